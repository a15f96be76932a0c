/**
 * Bounds the commits that wait for the database. Deno KV runs one at a time, and SQLite waits up to 5 s for the lock
 * of another process (a backup, a shell) before it fails. Without a bound, the last of many commits would wait for
 * minutes.
 */
import { StoreFailure } from "./store.ts";

export interface Turns {
  /**
   * Runs `work` when its turn comes.
   *
   * @throws {StoreFailure} without running it, if the database fails or is too slow
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}

interface Limits {
  /** How many pieces of work run at once. */
  readonly atOnce: number;
  /** Longest wait for a turn, milliseconds. */
  readonly patienceMs: number;
}

/** Longest wait for a turn while the database fails: enough for one attempt that succeeds. */
const FAILING_PATIENCE_MS = 500;

interface State extends Limits {
  readonly waiting: Set<PromiseWithResolvers<void>>;
  running: number;
  /** Set if the database failed in the last work that ended. */
  failure: StoreFailure | undefined;
}

/**
 * Opens the turns. After a failure of the database, one piece of work at a time tries the database, and all waiting ones share its
 * failure.
 */
export function openTurns(limits: Limits): Turns {
  const state: State = { ...limits, waiting: new Set(), running: 0, failure: undefined };
  return {
    async run(work) {
      await turn(state);
      try {
        const result = await work();
        state.failure = undefined;
        return result;
      } catch (error) {
        if (error instanceof StoreFailure && error.scope === "database") fail(state, error);
        throw error;
      } finally {
        release(state);
      }
    },
  };
}

function isFree({ running, failure, atOnce }: State): boolean {
  return running < (failure === undefined ? atOnce : 1);
}

async function turn(state: State): Promise<void> {
  if (isFree(state)) return void state.running++;
  const { waiting, failure, patienceMs } = state;
  const own = Promise.withResolvers<void>();
  waiting.add(own);
  const why = failure?.message ?? `no turn to write within ${patienceMs / 1000} s`;
  const patience = failure === undefined ? patienceMs : Math.min(patienceMs, FAILING_PATIENCE_MS);
  const timer = setTimeout(() => own.reject(new StoreFailure(why)), patience);
  await own.promise.finally(() => {
    clearTimeout(timer);
    waiting.delete(own);
  });
}

function fail(state: State, error: StoreFailure): void {
  state.failure = error;
  for (const { reject } of state.waiting) reject(new StoreFailure(error.message));
  state.waiting.clear();
}

function release(state: State): void {
  state.running--;
  for (const next of state.waiting) {
    if (!isFree(state)) return;
    state.running++;
    state.waiting.delete(next);
    next.resolve();
  }
}
