/** Wraps a store and reports the time and the result of every call. */
import type { Store } from "./store.ts";

export type StoreOperation = "get" | "get_many" | "list" | "commit";

/** Called after each call of the store. */
export type StoreMeasured = (operation: StoreOperation, seconds: number, succeeded: boolean) => void;

/** @param elapsed a monotonic clock in milliseconds, with fractions */
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
