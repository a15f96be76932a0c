/** A store that can hold back reads of chosen keys, so that the requests that need them stay in progress. */
import { openTestStore } from "testing/test_store.ts";
import type { Key, Store } from "../../src/base/store/store.ts";

/** An in-memory store. */
export interface HeldStore extends Store {
  /** Holds reads of keys that contain this text. Resolves when so many are held. */
  hold(text: string, reads: number): Promise<void>;
  /** Releases the held reads and all later ones. */
  release(): void;
}

/** Opens a store that holds no operation. */
export async function openHeldStore(): Promise<HeldStore> {
  const store = await openTestStore();
  let held = {
    text: "",
    reads: 0,
    enough: Promise.withResolvers<void>(),
    end: Promise.withResolvers<void>(),
  };
  const past = async (keys: readonly Key[]): Promise<void> => {
    const { text, enough, end } = held;
    if (text === "" || !keys.some((key) => key.join(" ").includes(text))) return;
    if (--held.reads === 0) enough.resolve();
    await end.promise;
  };
  return {
    ...store,
    hold(text, reads) {
      held = { text, reads, enough: Promise.withResolvers(), end: Promise.withResolvers() };
      return held.enough.promise;
    },
    release() {
      held.end.resolve();
      held = { ...held, text: "" };
    },
    async get(key) {
      await past([key]);
      return await store.get(key);
    },
    async getMany(keys) {
      await past(keys);
      return await store.getMany(keys);
    },
  };
}
