/** Short names for commits and entries in the storage contract. */
import type { Entry, Key, Store, Write } from "../../../src/base/store/store.ts";

export function put(key: Key, value: unknown): Write {
  return { kind: "set", key, value };
}

export function write(store: Store, ...writes: readonly Write[]): Promise<boolean> {
  return store.commit({ checks: [], writes });
}

export function values<T>(entries: readonly (Entry<T> | null)[]): (T | undefined)[] {
  return entries.map((entry) => entry?.value);
}

export function present<T>(entry: Entry<T> | null): Entry<T> {
  if (entry === null) throw new Error("the entry is gone");
  return entry;
}
