/** Caches: the most recently used entries, and one value for a time. */
import { LRUCache } from "lru-cache";
import type { SteadyClock } from "./clock.ts";

/** A cache with a bounded number of entries. */
export type RecentlyUsed<V extends NonNullable<unknown>> = LRUCache<string, V>;

/**
 * Opens a cache of at most `limit` entries. The entry that was unused longest is removed first. Memory is allocated as
 * entries are added, because the library's option `max` allocates it for all of them when a process starts.
 */
export function openRecentlyUsed<V extends NonNullable<unknown>>(limit: number): RecentlyUsed<V> {
  return new LRUCache<string, V>({ maxSize: limit, sizeCalculation: () => 1 });
}

/** A value that many ask for and few read. */
export interface KeptValue<T> {
  /** Returns the kept one, or reads it. All who ask meanwhile wait for the same read, and a failed read is not kept. */
  get(): Promise<T>;
  /** Makes the next `get` read. */
  forget(): void;
}

/** @param maxAgeMs from the beginning of a read */
export function keepFor<T>(maxAgeMs: number, steady: SteadyClock, read: () => Promise<T>): KeptValue<T> {
  let kept: { readonly at: number; readonly value: Promise<T> } | undefined;
  return {
    get() {
      const now = steady();
      if (kept !== undefined && now - kept.at < maxAgeMs) return kept.value;
      const fresh = { at: now, value: read() };
      fresh.value.catch(() => void (kept === fresh && (kept = undefined)));
      kept = fresh;
      return fresh.value;
    },
    forget: () => void (kept = undefined),
  };
}
