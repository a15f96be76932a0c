/**
 * Wraps a store and handles its failures. Callers get `store.unavailable`. The log has one line when the store fails
 * and one when it works again. Readiness follows from the latest reads and writes.
 */
import { awaitFor } from "../kernel/await_for.ts";
import { ApiError } from "../kernel/api_error.ts";
import { storeProbeRecord } from "./base_records.ts";
import { type Key, type Store, StoreFailure, type Write } from "./store.ts";

/** A store that reports whether it works. */
export interface GuardedStore extends Store {
  /**
   * Whether the store can be read and written, judged by recent calls. If there was no recent write, it tries one, so
   * that an idle process notices a full disk, and notices when the disk has space again.
   */
  isWorking(): Promise<boolean>;
  /** Whether it counts as failing by its recent calls, without a call. */
  isFailing(): boolean;
}

export interface GuardDeps {
  /** A monotonic clock in milliseconds. */
  readonly elapsed: () => number;
  /** Called when the store begins to fail. */
  readonly failing: (why: string) => void;
  /** Called when the store works again. */
  readonly working: (failedSeconds: number) => void;
}

/** Age up to which a successful write proves that the store works. */
const TRUSTED_MS = 10_000;
/** Shortest interval between probes of a failing store. */
const RETRY_MS = 1000;
/**
 * A store that fails occasionally, as on an almost full disk, counts as failing until it has not failed for this
 * long.
 */
const SETTLED_MS = 5000;
/** Load balancers do not wait much longer for a health response. */
const PROBE_WAIT_MS = 2000;
const RETRY_AFTER_SECONDS = 5;
/** Key of the probe's entry. It always has the same value and is never deleted. */
const storeProbeKey: Key = ["store_probe"];

export function guardStore(store: Store, deps: GuardDeps): GuardedStore {
  const state = openState(deps);
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      // A connection that failed has been replaced: that it failed again is about the database.
      if (error.scope !== "statement") state.failed(error.message);
      throw new ApiError("store.unavailable", {
        detail: error.message,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  };
  const self: Store = {
    get: (key) => guarded(store.get(key)),
    getMany: (keys) => guarded(store.getMany(keys)),
    list: (listing) => guarded(store.list(listing)),
    async commit(staged) {
      const done = await guarded(store.commit(staged));
      if (done) state.wrote(); // a failed check has not written
      return done;
    },
    close: () => store.close(),
  };
  return { ...self, isWorking: openProbe(self, state), isFailing: state.isFailing };
}

interface State {
  failed(why: string): void;
  wrote(): void;
  isFailing(): boolean;
  /** Whether the last write is too old to prove that the store works. */
  isUncertain(): boolean;
}

function openState({ elapsed, failing, working }: GuardDeps): State {
  let failingSince: number | undefined;
  let failedAt = -Infinity;
  let wroteAt = -Infinity;
  return {
    failed(why) {
      failedAt = elapsed();
      if (failingSince !== undefined) return;
      failingSince = failedAt;
      failing(why);
    },
    wrote() {
      wroteAt = elapsed();
      if (failingSince === undefined || wroteAt - failedAt < SETTLED_MS) return;
      working(Math.round((wroteAt - failingSince) / 1000));
      failingSince = undefined;
    },
    isFailing: () => failingSince !== undefined,
    isUncertain: () =>
      failingSince === undefined
        ? elapsed() - wroteAt >= TRUSTED_MS
        : elapsed() - Math.max(wroteAt, failedAt) >= RETRY_MS,
  };
}

/** Writes one key and one value, so that the probe itself never fills the disk. Only one probe runs at a time. */
function openProbe(store: Store, state: State): () => Promise<boolean> {
  let probe: Promise<unknown> | undefined;
  const writes: Write[] = [];
  storeProbeRecord.set({ writes }, storeProbeKey, true);
  return async () => {
    if (state.isUncertain()) {
      probe ??= store.commit({ checks: [], writes }).finally(() => probe = undefined);
    }
    const tried = Promise.all([probe, storeProbeRecord.get(store, storeProbeKey)]).then(
      () => true,
      () => false,
    );
    return await awaitFor(PROBE_WAIT_MS, tried, () => false) && !state.isFailing();
  };
}

export type StoreOperation = "get" | "get_many" | "list" | "commit";

/** Called after each call of the store. */
export type StoreMeasured = (operation: StoreOperation, seconds: number, succeeded: boolean) => void;

/**
 * Wraps a store and reports the time and the result of every call.
 *
 * @param elapsed a monotonic clock in milliseconds, with fractions
 */
export function measureStore(store: Store, elapsed: () => number, measured: StoreMeasured): Store {
  const timed = async <T>(operation: StoreOperation, call: () => Promise<T>): Promise<T> => {
    const began = elapsed();
    let succeeded = false;
    try {
      const result = await call();
      succeeded = true;
      return result;
    } finally {
      measured(operation, (elapsed() - began) / 1000, succeeded);
    }
  };
  return {
    get: (key) => timed("get", () => store.get(key)),
    getMany: (keys) => timed("get_many", () => store.getMany(keys)),
    list: (listing) => timed("list", () => store.list(listing)),
    commit: (staged) => timed("commit", () => store.commit(staged)),
    close: () => store.close(),
  };
}
