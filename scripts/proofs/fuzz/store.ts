/** A store that records writes, so that the fuzzer sees every change and can undo it. */
import type { Entry, Key, Store, Write } from "../../../src/base/store/store.ts";

export interface WatchedStore extends Store {
  /**
   * Keys written since the last {@link WatchedStore.undo} or {@link WatchedStore.keep}, without replay records, rate limits,
   * copies of the directory and the platform's own key, which its first receipt or a background job stores.
   */
  changes(): readonly Key[];
  /** Accepts the writes so far. */
  keep(): void;
  /**
   * Restores the values, including replay records, so that a signed request can be sent again. Versions are not
   * restored.
   */
  undo(): Promise<void>;
}

type Former = readonly [key: Key, entry: Entry<unknown> | null];

const ALWAYS_WRITABLE: readonly string[] = [
  "spent_jwt",
  "rate_bucket",
  "kept_copy",
  "kept_piece",
  "age_mark",
  "receipt_key",
];

/** Wraps a store. Earlier writes are not recorded. */
export function watch(store: Store): WatchedStore {
  const formers = new Map<string, Former>();
  return {
    get: (key) => store.get(key),
    getMany: (keys) => store.getMany(keys),
    list: (listing) => store.list(listing),
    close: () => store.close(),
    async commit(commit) {
      const keys = commit.writes.map(({ key }) => key);
      const entries = await store.getMany<unknown>(keys);
      if (!await store.commit(commit)) return false;
      keys.forEach((key, index) => {
        const name = JSON.stringify(key);
        if (!formers.has(name)) formers.set(name, [key, entries[index] ?? null]);
      });
      return true;
    },
    changes: () =>
      [...formers.values()].map(([key]) => key).filter(([kind = ""]) => !ALWAYS_WRITABLE.includes(kind)),
    keep: () => formers.clear(),
    async undo() {
      const writes = [...formers.values()].map(restoring);
      formers.clear();
      if (writes.length > 0) await store.commit({ checks: [], writes });
    },
  };
}

function restoring([key, entry]: Former): Write {
  return entry === null ? { kind: "delete", key } : { kind: "set", key, value: entry.value };
}
