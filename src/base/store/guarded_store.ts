/**
 * Answers for a store that fails: its callers get `store.unavailable`, the log has one line when it fails and one when
 * it works again, and readiness is what the latest reads and writes came to.
 */
import { ApiError } from "../kernel/api_error.ts";
import { type Key, type Store, StoreFailure } from "./store.ts";

/** A store that knows whether it works. */
export interface GuardedStore extends Store {
  /**
   * Whether the store can be read and written, by what its users saw. If no write was tried lately, it tries one,
   * so that an idle process notices a full disk, and one without traffic notices that the disk has room again.
   */
  isWorking(): Promise<boolean>;
}

export interface GuardDeps {
  /** Milliseconds from any beginning. Never set back. */
  readonly elapsed: () => number;
  /** The store has begun to fail. */
  readonly failing: (why: string) => void;
  /** The store works again. */
  readonly working: (failedSeconds: number) => void;
}

/** A write that is no older says enough about the store. */
const TRUSTED_MS = 10_000;
/** A failing store is tried this often at most. */
const RETRY_MS = 1000;
/** A store that fails now and then, as on an almost full disk, counts as failing until it has not failed for this long. */
const SETTLED_MS = 5000;
/** Load balancers wait little longer for an answer about health. */
const PROBE_WAIT_MS = 2000;
const RETRY_AFTER_SECONDS = 5;
/** What the probe writes, always with the same value. Kept. */
const storeProbeKey: Key = ["store_probe"];

/** Guards `store`. */
export function guardStore(store: Store, deps: GuardDeps): GuardedStore {
  const state = openState(deps);
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      state.failed(error.message);
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
      if (done) state.wrote(); // a failed check has written nothing
      return done;
    },
    close: () => store.close(),
  };
  return { ...self, isWorking: openProbe(self, state) };
}

interface State {
  failed(why: string): void;
  wrote(): void;
  isFailing(): boolean;
  /** Whether the last write is too old to go by. */
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

/** One key and one value, so that the probe itself never fills the disk; one probe at a time. */
function openProbe(store: Store, state: State): () => Promise<boolean> {
  let probe: Promise<unknown> | undefined;
  const write = { kind: "set", key: storeProbeKey, value: true } as const;
  return async () => {
    if (state.isUncertain()) {
      probe ??= store.commit({ checks: [], writes: [write] }).finally(() => probe = undefined);
    }
    const tried = Promise.all([probe, store.get(storeProbeKey)]).then(() => true, () => false);
    return await within(PROBE_WAIT_MS, tried) && !state.isFailing();
  };
}

/** What `answer` says, or false if it takes longer. */
async function within(milliseconds: number, answer: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), milliseconds);
  return await Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}
