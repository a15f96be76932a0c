/** The platform's background work. Each job begins a pass once a second, one at a time, until it is stopped. */
import { isStoreFailure } from "../../base/kernel/api_error.ts";
import { errorText } from "../../base/kernel/batches.ts";
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

/**
 * Returns work that has not started. All jobs begin at the same beat, so that a database reads for them together.
 * `settled` waits for tasks that jobs have left running.
 */
export function backgroundWork(
  jobs: readonly Job[],
  settled: () => Promise<unknown>,
  log: Log,
  everyMs: number = EVERY_MS,
): BackgroundWork {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let occasions: Promise<unknown> = Promise.resolve();
  const loops = jobs.map((job) => openLoop(job, () => stopped, log)); // a slow job does not delay others
  const nextBeat = (): void => {
    timer = setTimeout(() => {
      for (const { beat } of loops) beat();
      if (!stopped) nextBeat();
    }, everyMs);
  };
  return {
    startWork() {
      if (timer === undefined) nextBeat();
    },
    async workOnce() {
      const occasion = Promise.all(jobs.map((job) => workOff(job, () => stopped, log))).then(settled);
      occasions = Promise.all([occasions, occasion]);
      await occasion;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await Promise.all([...loops.map(({ pass }) => pass()), occasions]);
      await settled(); // also of what these have left running
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

interface Loop {
  /** Begins a pass, unless one is under way or the pause after a failure is not over. */
  readonly beat: () => void;
  /** The newest pass. Never rejects. */
  readonly pass: () => Promise<void>;
}

function openLoop(job: Job, isStopped: () => boolean, log: Log): Loop {
  let pass = Promise.resolve();
  let isUnderWay = false;
  let pace = 1;
  let beatsLeft = 1;
  return {
    beat() {
      if (isUnderWay || --beatsLeft > 0) return;
      isUnderWay = true;
      pass = Promise.try(job, isStopped).then(() => void (pace = 1), (error: Error) => {
        pace = Math.min(2 * pace, MAX_PACE);
        fail(log, error);
      }).finally(() => {
        beatsLeft = pace;
        isUnderWay = false;
      });
    },
    pass: () => pass,
  };
}

function fail(log: Log, error: Error): void {
  if (isStoreFailure(error)) return; // the store has logged it once
  log.error("work.failed", { error: errorText(error) });
}
