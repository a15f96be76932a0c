/**
 * Token buckets in the memory of this process, for the rate limit before authentication. That limit must make floods
 * cheap, so it must not cost a commit itself.
 */
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import type { SteadyClock } from "../../../base/kernel/clock.ts";
import type { RatePolicy } from "../../config/rate_policies.ts";
import type { BucketStore } from "./rate_limit_store.ts";

/** Bounds the memory: one bucket per certificate and group. Beyond it, the bucket that was unused longest is removed. */
const MAX_BUCKETS = 50_000;

/** A token bucket of {@link RatePolicy}, as it was filled last. */
export interface TokenBucket {
  readonly tokens: number;
  /** Milliseconds of a clock that never goes back. */
  readonly filledAt: number;
}

/**
 * Takes a token.
 *
 * @param former undefined: a full bucket
 * @param now milliseconds of a clock that never goes back
 * @returns the bucket afterwards, and 0 or how long the caller has to wait
 */
export function takeToken(
  former: TokenBucket | undefined,
  { perSecond, burst }: RatePolicy,
  now: number,
): { readonly bucket: TokenBucket; readonly waitSeconds: number } {
  const { tokens: left, filledAt } = former ?? { tokens: burst, filledAt: now };
  const tokens = Math.min(burst, left + (now - filledAt) / 1000 * perSecond);
  return tokens < 1
    ? { bucket: { tokens, filledAt: now }, waitSeconds: Math.max(1, Math.ceil((1 - tokens) / perSecond)) }
    : { bucket: { tokens: tokens - 1, filledAt: now }, waitSeconds: 0 };
}

/** Opens the buckets. `steady` is a clock that never goes back. */
export function openLocalBuckets(steady: SteadyClock): BucketStore {
  const buckets = openRecentlyUsed<TokenBucket>(MAX_BUCKETS);
  return {
    take(name, policy) {
      const key = name.join(" ");
      const { bucket, waitSeconds } = takeToken(buckets.get(key), policy, steady());
      buckets.set(key, bucket);
      return Promise.resolve(waitSeconds);
    },
  };
}
