/**
 * Token buckets in the memory of this process, for the rate limit before authentication. That limit must make floods
 * cheap, so it must not cost a commit itself.
 */
import { openRecentlyUsed } from "../../base/kernel/recently_used.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { BucketStore } from "./rate_limit_store.ts";

/** Bounds the memory: one bucket per certificate and group. Beyond it, the bucket that was unused longest is removed. */
const MAX_BUCKETS = 50_000;

interface Bucket {
  readonly tokens: number;
  /** Milliseconds. */
  readonly filledAt: number;
}

/** Opens the buckets. `steady` is a clock that never goes back. */
export function openLocalBuckets(steady: Clock): BucketStore {
  const buckets = openRecentlyUsed<Bucket>(MAX_BUCKETS);
  return {
    take(name, { perSecond, burst }) {
      const now = steady();
      const key = name.join(" ");
      const bucket = buckets.get(key) ?? { tokens: burst, filledAt: now };
      const elapsed = (now - bucket.filledAt) / 1000;
      const tokens = Math.min(burst, bucket.tokens + elapsed * perSecond);
      buckets.set(key, { tokens: tokens < 1 ? tokens : tokens - 1, filledAt: now });
      return Promise.resolve(tokens < 1 ? Math.max(1, Math.ceil((1 - tokens) / perSecond)) : 0);
    },
  };
}
