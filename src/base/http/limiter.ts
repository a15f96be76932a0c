/** Token buckets in memory, one per key, for a bounded number of keys. Each process counts separately. */
import { openRecentlyUsed } from "../kernel/recently_used.ts";
import type { Clock } from "../kernel/clock.ts";

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

/** Opens a limiter. A key beyond `maxKeys` replaces the least recently used one. */
export function openLimiter({ perSecond, burst, maxKeys }: LimiterPolicy, clock: Clock): Limiter {
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
