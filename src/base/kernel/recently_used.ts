/** Caches that keep the most recently used entries. */
import { LRUCache } from "lru-cache";

/** A cache with a bounded number of entries. */
export type RecentlyUsed<V extends NonNullable<unknown>> = LRUCache<string, V>;

/**
 * Opens a cache of at most `limit` entries. The entry that was unused longest is removed first. Memory is allocated as
 * entries are added, because the library's option `max` allocates it for all of them when a process starts.
 */
export function openRecentlyUsed<V extends NonNullable<unknown>>(limit: number): RecentlyUsed<V> {
  return new LRUCache<string, V>({ maxSize: limit, sizeCalculation: () => 1 });
}
