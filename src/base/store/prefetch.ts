/**
 * What one request reads, in as few round trips as can be: whoever learns which entries will be needed asks for all of
 * them at once, and each guard and use case takes its own from here. Nothing outlives the request, and what is decided
 * on an entry is checked by its version in the commit all the same.
 */
import type { Entry, Key, Reader, Store } from "./store.ts";

/** The entries of one request. */
export interface Prefetch extends Reader {
  /** Asks for these in one round trip; those that were asked for before are left out. Never rejects: `get` does. */
  ahead(keys: readonly Key[]): void;
}

/** Opens a request's reads. An entry that was not asked for ahead is read when it is wanted. */
export function prefetch(store: Store): Prefetch {
  const asked = new Map<string, () => Promise<Entry<unknown> | null>>();
  return {
    ahead(keys) {
      const fresh = keys.filter((key) => !asked.has(nameOf(key)));
      if (fresh.length === 0) return;
      const entries = store.getMany<unknown>(fresh);
      entries.catch(() => {}); // whoever wants an entry is told
      fresh.forEach((key, index) => asked.set(nameOf(key), async () => (await entries)[index] ?? null));
    },
    async get<T>(key: Key): Promise<Entry<T> | null> {
      const known = asked.get(nameOf(key));
      return known === undefined ? await store.get<T>(key) : await known() as Entry<T> | null;
    },
  };
}

// No part of a key that is asked for ahead holds a NUL: they are codes, UUIDs, hashes and visible characters.
function nameOf(key: Key): string {
  return key.join("\0");
}
