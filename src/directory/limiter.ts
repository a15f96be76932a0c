/** Token buckets in memory, one a key, for a bounded number of keys. Each process has its own counts. */
import type { Clock } from "../base/kernel/clock.ts";

/** Counts. */
export interface Limiter {
  /** Takes a token of this key: 0 if there was one, else the seconds after which there is one again. */
  take(key: string): number;
}

/** How fast one key may go on, how often at once, and how many keys are remembered. */
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

/** Opens a limiter. A key beyond `maxKeys` replaces the one that was used least recently. */
export function openLimiter({ perSecond, burst, maxKeys }: LimiterPolicy, clock: Clock): Limiter {
  const buckets = new Map<string, Bucket>();
  return {
    take(key) {
      const now = clock();
      const bucket = buckets.get(key) ?? { tokens: burst, at: now };
      const gained = Math.max(0, now - bucket.at) / 1000 * perSecond;
      const tokens = Math.min(burst, bucket.tokens + gained);
      buckets.delete(key); // a Map keeps the order of insertion: the first key is the least recent
      if (buckets.size >= maxKeys) buckets.delete(buckets.keys().next().value ?? "");
      const left = tokens < 1 ? tokens : tokens - 1;
      buckets.set(key, { tokens: left, at: now });
      return tokens < 1 ? Math.max(1, Math.ceil((1 - tokens) / perSecond)) : 0;
    },
  };
}
