/** The platform's background work. Each job runs once a second, one pass at a time, until it is stopped. */
import { isStoreFailure } from "../../base/kernel/api_error.ts";
import type { Log } from "../observed/log_events.ts";

/**
 * Work that is not triggered by requests. Several processes may run it, because every job resolves races in the
 * store.
 */
export interface BackgroundWork {
  startWork(): void;
  /** In place of `startWork`, for a runtime with a scheduler of its own: does what is due. Never throws. */
  workOnce(): Promise<void>;
  /** Waits for the passes under way. */
  stop(): Promise<void>;
}

/** A job: handles what is due and returns how much that was. A long job checks `isStopped`. */
export type Job = (isStopped: () => boolean) => Promise<number>;

const EVERY_MS = 1000;
/** After consecutive failures the delay becomes 2, 4, 8, 16, then this many times as long. */
const MAX_PACE = 32;
/** Of one job at one occasion. */
const MAX_PASSES = 100;

/** Returns work that has not started. `settled` waits for tasks that jobs have left running. */
export function backgroundWork(
  jobs: readonly Job[],
  settled: () => Promise<unknown>,
  log: Log,
  everyMs: number = EVERY_MS,
): BackgroundWork {
  let stopped = false;
  const loops = jobs.map((job) => openLoop(job, () => stopped, log, everyMs)); // a slow job does not delay others
  return {
    startWork: () => loops.forEach(({ start }) => start()),
    async workOnce() {
      await Promise.all(jobs.map((job) => workOff(job, () => stopped, log)));
      await settled();
    },
    async stop() {
      stopped = true;
      await Promise.all([...loops.map(({ end }) => end()), settled()]);
    },
  };
}

/** Runs a job until it finds no more, because the next occasion may be a minute away. */
async function workOff(job: Job, isStopped: () => boolean, log: Log): Promise<void> {
  try {
    for (let pass = 0; pass < MAX_PASSES && !isStopped() && await job(isStopped) > 0; pass++);
  } catch (error) {
    fail(log, error instanceof Error ? error : new Error(String(error)));
  }
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
  if (isStoreFailure(error)) return; // the store has logged it once
  log.error("work.failed", { error: error.stack ?? error.message });
}
