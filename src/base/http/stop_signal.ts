/** Ends a program at the request of its operator or supervisor: SIGINT or SIGTERM. */
import type { Log } from "../observability/log.ts";

export interface StopOptions {
  readonly log: Log;
  /** First part of the log events' names. */
  readonly program: "platform" | "directory";
  /** Longest duration of the stop, milliseconds. Then the process ends with status 1. */
  readonly drainMs: number;
  /** Writes the queued log lines before that. */
  readonly flush: () => Promise<void>;
}

/** Resolves at the first signal. */
export function stopSignal({ log, program, drainMs, flush }: StopOptions): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const once = (signal: Deno.Signal): void => {
      if (stopping) return;
      stopping = true;
      log.info(`${program}.stopping`, { signal });
      resolve();
      Deno.unrefTimer(setTimeout(() => {
        log.error(`${program}.stopped_late`, { seconds: drainMs / 1000 });
        void flush().then(() => Deno.exit(1));
      }, drainMs));
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => once(signal));
  });
}
