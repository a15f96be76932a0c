/** A store that remembers what was written, so that the fuzzer sees every change at once and takes it back. */
import type { Entry, Key, Store, Write } from "../../src/base/store/store.ts";

/** A store under watch. */
export interface WatchedStore extends Store {
  /** Keys written since the last {@link WatchedStore.undo} or {@link WatchedStore.keep}, replay records of used-up JWTs and rate limits left out. */
  changes(): readonly Key[];
  /** Leaves what was written as it stands. */
  keep(): void;
  /** Restores the values, replay records too: a signed request can be sent again. Versions move on. */
  undo(): Promise<void>;
}

type Former = readonly [key: Key, entry: Entry<unknown> | null];

const MARKERS: readonly string[] = ["spent_jwt", "rate_bucket"];

/** Puts a store under watch; what was written before is not looked at. */
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
    changes: () => [...formers.values()].map(([key]) => key).filter(([room = ""]) => !MARKERS.includes(room)),
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
