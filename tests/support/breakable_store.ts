/** A store whose reads can be made to fail or to wait. */
import { openTestStore } from "testing/test_store.ts";
import type { Store } from "../../src/base/store/store.ts";

export interface ReadFaults {
  /** Thrown by every read. */
  failure?: Error;
  /** Reads wait for it. */
  hangs?: Promise<void>;
}

/** Opens a store in memory that works. */
export async function breakableStore(): Promise<{ readonly store: Store; readonly faults: ReadFaults }> {
  const kv = await openTestStore();
  const faults: ReadFaults = {};
  const past = async (): Promise<void> => {
    await faults.hangs;
    if (faults.failure !== undefined) throw faults.failure;
  };
  const store: Store = {
    ...kv,
    async get(key) {
      await past();
      return await kv.get(key);
    },
    async getMany(keys) {
      await past();
      return await kv.getMany(keys);
    },
    async list(options) {
      await past();
      return await kv.list(options);
    },
  };
  return { store, faults };
}
