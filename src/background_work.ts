/** The platform's background work: every job once a second, one pass at a time, until it is stopped. */
import type { Log } from "./observability/log.ts";

/** Work that nobody asks for by a request. Several processes may each do it: every job settles races in the store. */
export interface BackgroundWork {
  /** Starts the passes. */
  startWork(): void;
  /** Waits for the pass under way, and for nothing else. */
  stop(): Promise<void>;
}

/** One job: does what is due and gives how much that was. */
export type Job = () => Promise<number>;

const EVERY_MS = 1000;

/** Work that has not started; `settled` waits for what jobs have left running. */
export function backgroundWork(
  jobs: readonly Job[],
  settled: () => Promise<unknown>,
  log: Log,
): BackgroundWork {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pass: Promise<unknown> = Promise.resolve();
  let stopped = false;
  const work = (): void => {
    pass = Promise.all(jobs.map((job) => job().catch((error: Error) => fail(log, error))))
      .finally(() => void (stopped || (timer = setTimeout(work, EVERY_MS))));
  };
  return {
    startWork: () => void (timer ??= setTimeout(work, EVERY_MS)),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await Promise.all([pass, settled()]);
    },
  };
}

function fail(log: Log, error: Error): void {
  log.error("work.failed", { error: error.stack ?? error.message });
}
