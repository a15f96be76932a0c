/** The signals of an operator or a supervisor: SIGINT and SIGTERM end a program, and SIGHUP renews its keys. */
import process from "node:process";
import { setTimeout } from "node:timers";
import type { Log } from "../observability/log_events.ts";

/** Signals within this time are one request: service managers signal a whole group, and `deno task` passes its own on. */
const ONE_REQUEST_MS = 1000;

export interface StopOptions {
  readonly log: Log;
  /** First part of the log events' names. */
  readonly program: "platform" | "directory";
  /** Longest duration of the stop, milliseconds. The process then ends with status 1. */
  readonly drainMs: number;
  /** Writes the queued log lines before that. */
  readonly flush: () => Promise<void>;
}

/** Resolves at the first signal. A signal later than a second after it ends the process at once, with status 1. */
export function stopSignal({ log, program, drainMs, flush }: StopOptions): Promise<void> {
  return new Promise((resolve) => {
    let state: "running" | "asked" | "stopping" = "running";
    const end = (note: () => void): void => {
      note();
      void flush().then(() => process.exit(1));
    };
    const receive = (signal: string): void => {
      if (state === "stopping") end(() => log.error(`${program}.stopped_at_once`, { signal }));
      if (state !== "running") return;
      state = "asked";
      log.info(`${program}.stopping`, { signal });
      resolve();
      after(ONE_REQUEST_MS, () => void (state = "stopping"));
      after(drainMs, () => end(() => log.error(`${program}.stopped_late`, { seconds: drainMs / 1000 })));
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => receive(signal));
    }
  });
}

/**
 * Runs `renew` at each SIGHUP, one run after the other: a run that began earlier and reads longer must not end last, with
 * the keys of before. Signals that come while a run waits are one.
 */
export function onHangUp(renew: () => Promise<void>): void {
  let [renewing, isWaiting] = [Promise.resolve(), false];
  process.on("SIGHUP", () => {
    if (isWaiting) return;
    isWaiting = true;
    renewing = renewing.then(() => {
      isWaiting = false;
      return renew();
    });
  });
}

/** Without keeping the process. */
function after(milliseconds: number, act: () => void): void {
  setTimeout(act, milliseconds).unref();
}
