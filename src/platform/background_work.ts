/** The platform's background work: every job once a second, one pass of it at a time, until it is stopped. */
import { isStoreFailure } from "../base/kernel/api_error.ts";
import type { Log } from "../base/observability/log.ts";

/** Work that nobody asks for by a request. Several processes may each do it: every job settles races in the store. */
export interface BackgroundWork {
  /** Starts the passes. */
  startWork(): void;
  /** Waits for the passes under way, and for nothing else. */
  stop(): Promise<void>;
}

/** One job: does what is due and returns how much that was. A long one asks whether it should end. */
export type Job = (isStopped: () => boolean) => Promise<number>;

const EVERY_MS = 1000;
/** After failures in a row a pass waits 2, 4, 8, 16, then this many times as long. */
const MAX_PACE = 32;

/** Work that has not started; `settled` waits for what jobs have left running. */
export function backgroundWork(
  jobs: readonly Job[],
  settled: () => Promise<unknown>,
  log: Log,
  everyMs: number = EVERY_MS,
): BackgroundWork {
  let stopped = false;
  const loops = jobs.map((job) => openLoop(job, () => stopped, log, everyMs)); // a slow job delays no other
  return {
    startWork: () => loops.forEach(({ start }) => start()),
    async stop() {
      stopped = true;
      await Promise.all([...loops.map(({ end }) => end()), settled()]);
    },
  };
}

function openLoop(
  job: Job,
  isStopped: () => boolean,
  log: Log,
  everyMs: number,
): { start(): void; end(): Promise<unknown> } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pass: Promise<unknown> = Promise.resolve();
  let waitMs = everyMs;
  const work = (): void => {
    pass = job(isStopped).then(() => waitMs = everyMs, (error: Error) => {
      waitMs = Math.min(2 * waitMs, MAX_PACE * everyMs);
      fail(log, error);
    }).finally(() => void (isStopped() || (timer = setTimeout(work, waitMs))));
  };
  return {
    start: () => void (timer ??= setTimeout(work, everyMs)),
    end(): Promise<unknown> {
      clearTimeout(timer);
      return pass;
    },
  };
}

function fail(log: Log, error: Error): void {
  if (isStoreFailure(error)) return; // logged once, by the store
  log.error("work.failed", { error: error.stack ?? error.message });
}
