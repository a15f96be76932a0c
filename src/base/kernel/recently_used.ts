/** What a process remembers for a time, in bounds: the most recently used entries, their token buckets, and one value. */
import { LRUCache } from "lru-cache";
import type { Clock, SteadyClock } from "./clock.ts";

/** A cache with a bounded number of entries. */
export type RecentlyUsed<V extends NonNullable<unknown>> = LRUCache<string, V>;

/**
 * Opens a cache of at most `limit` entries. The entry that was unused longest is removed first. Memory is allocated as
 * entries are added, because the library's option `max` allocates it for all of them when a process starts.
 */
export function openRecentlyUsed<V extends NonNullable<unknown>>(limit: number): RecentlyUsed<V> {
  return new LRUCache<string, V>({ maxSize: limit, sizeCalculation: () => 1 });
}

/** Token buckets in memory, one per key, for a bounded number of keys. */
export interface Limiter {
  /** Takes a token of this key. Returns 0, or the seconds until the next token if none is left. */
  take(key: string): number;
}

/** The rate and burst per key, and the maximum number of keys. */
export interface LimiterPolicy {
  readonly perSecond: number;
  readonly burst: number;
  readonly maxKeys: number;
}

interface Bucket {
  readonly tokens: number;
  /** Milliseconds. */
  readonly at: number;
}

/**
 * Opens a limiter. Each process counts separately. A clock that goes back gives no tokens. A key beyond `maxKeys`
 * replaces the least recently used one.
 */
export function openLimiter(
  { perSecond, burst, maxKeys }: LimiterPolicy,
  clock: Clock | SteadyClock,
): Limiter {
  const buckets = openRecentlyUsed<Bucket>(maxKeys);
  return {
    take(key) {
      const now = clock();
      const bucket = buckets.get(key) ?? { tokens: burst, at: now };
      const gained = Math.max(0, now - bucket.at) / 1000 * perSecond;
      const tokens = Math.min(burst, bucket.tokens + gained);
      const left = tokens < 1 ? tokens : tokens - 1;
      buckets.set(key, { tokens: left, at: now });
      return tokens < 1 ? Math.max(1, Math.ceil((1 - tokens) / perSecond)) : 0;
    },
  };
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
