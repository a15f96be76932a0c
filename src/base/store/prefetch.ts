/**
 * Reads the entries of one request in as few round trips as possible. Code that knows which entries will be needed
 * prefetches all of them at once, and each middleware and use case then gets its own from here. The entries are
 * discarded with the request. A commit still checks the version of each entry that a decision depends on.
 */
import type { Entry, Key, Reader, Store } from "./store.ts";

export interface Prefetch extends Reader {
  /** Prefetches these entries in one round trip, except those requested before. Never rejects; `get` does. */
  ahead(keys: readonly Key[]): void;
}

/** Opens the reads of a request. An entry that was not prefetched is read by `get`. */
export function prefetch(store: Store): Prefetch {
  const asked = new Map<string, () => Promise<Entry<unknown> | null>>();
  return {
    ahead(keys) {
      const fresh = keys.filter((key) => !asked.has(nameOf(key)));
      if (fresh.length === 0) return;
      const entries = store.getMany<unknown>(fresh);
      entries.catch(() => {}); // `get` reports the failure
      fresh.forEach((key, index) => asked.set(nameOf(key), async () => (await entries)[index] ?? null));
    },
    async get<T>(key: Key): Promise<Entry<T> | null> {
      const known = asked.get(nameOf(key));
      return known === undefined ? await store.get<T>(key) : await known() as Entry<T> | null;
    },
  };
}

// Prefetched keys consist of codes, UUIDs, hashes and visible characters, so no part contains a NUL.
function nameOf(key: Key): string {
  return key.join("\0");
}
