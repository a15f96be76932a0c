/** A store that is the bottleneck: it answers one read after another, each in the same time, in the order they came. */
import { openTestStore } from "testing/test_store.ts";
import type { Store } from "../../src/base/store/store.ts";

/** An in-memory store. */
export interface SlowStore extends Store {
  /** Of each read, milliseconds; 0 answers at once. */
  readMs: number;
}

/** Opens one that is not slow yet. */
export async function openSlowStore(): Promise<SlowStore> {
  const store = await openTestStore();
  let last = Promise.resolve();
  const turn = (): Promise<void> => {
    if (slow.readMs === 0) return Promise.resolve();
    return last = last.then(() => new Promise((resolve) => setTimeout(resolve, slow.readMs)));
  };
  const slow: SlowStore = {
    ...store,
    readMs: 0,
    async get(key) {
      await turn();
      return await store.get(key);
    },
    async getMany(keys) {
      await turn();
      return await store.getMany(keys);
    },
  };
  return slow;
}
