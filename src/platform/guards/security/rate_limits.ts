/**
 * Token buckets of the rate limit: in the memory of this process before authentication, because that limit must make
 * floods cheap, and in the store for authenticated participants.
 */
import { z } from "zod";
import {
  type Limiter,
  openLimiter,
  openRecentlyUsed,
  type RecentlyUsed,
} from "../../../base/kernel/recently_used.ts";
import { count, defineRecord, instant } from "../../../base/store/record.ts";
import { type Clock, MAX_SKEW_MS, type SteadyClock, type WallTime } from "../../../base/kernel/clock.ts";
import type { RateGroup, RatePolicies, RatePolicy } from "../../config/rate_policies.ts";
import { rateBucketKey } from "../../config/store_keys.ts";
import type { Store } from "../../../base/store/store.ts";
import { transact } from "../../../base/store/transaction.ts";
import type { HonoRequest, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { CertificateVariables, ClientCertificate } from "./client_certificate.ts";

export interface BucketStore {
  /** Takes one token. Returns 0 if there was one, else the seconds after which to retry. */
  take(name: readonly [string, string], policy: RatePolicy): Promise<number>;
}

/** Buckets that all processes share. */
export interface SharedBuckets extends BucketStore {
  /** @param onDrawn gets the tokens that are left in the bucket, whenever this process draws some */
  take(
    name: readonly [string, string],
    policy: RatePolicy,
    onDrawn?: (left: number) => void,
  ): Promise<number>;
  /** Gives a token back, now for this process and soon for the others. A bucket has its burst at most. Never throws. */
  giveBack(name: readonly [string, string], policy: RatePolicy): void;
  /** Gives back what this process has of the group's buckets and has not used, because it stops. Never throws. */
  giveBackAll(group: string, policy: RatePolicy): Promise<void>;
}

interface Bucket {
  readonly tokens: number;
  /** Milliseconds. */
  readonly filledAt: WallTime;
}

export const rateBucketRecord = defineRecord<Bucket>({
  name: "rate_bucket",
  keyParts: ["group of endpoints", "address or client id"],
  what: "A token bucket of a rate limit.",
  schema: z.looseObject({ tokens: count, filledAt: instant }),
  version: 1,
  lifetime: "Until it would be full.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

/** The tokens of a bucket that this process has drawn, or was given back. */
interface Reserve {
  tokens: number;
  returned: number;
  /**
   * Milliseconds, by the steady clock. Then an empty bucket would have become full, and the tokens may not be used any
   * more: what is kept from a quiet time must not add to a later burst of the other processes.
   */
  usableUntil: number;
  /** Milliseconds, by the steady clock. Until then the bucket is empty, unless another process gives tokens back. */
  emptyUntil: number;
  /** Milliseconds, by the steady clock. When this process has drawn last. */
  drawnAt: number;
  drawing?: Promise<void>;
}

/**
 * A block is this part of the tokens that are left, and at least one token, so that no number of processes empties a
 * bucket by drawing.
 */
const BLOCK_DIVISOR = 8;
/** Bounds the memory. The tokens of a removed reserve are lost, which never exceeds the limit. */
const MAX_RESERVES = 10_000;
/** A process keeps this part of a burst of the tokens that it was given back, and uses them first. */
const GIVE_BACK_DIVISOR = 64;
const MAX_ATTEMPTS = 5;
/** A bucket that was found empty is looked at again after this time. */
const KNOWN_MS = 1000;
interface BucketStoreDeps {
  readonly store: Store;
  /** The computer's clock. Those of other processes differ by {@link MAX_SKEW_MS} at most: beyond, requests fail. */
  readonly clock: Clock;
  /** For waits within this process. */
  readonly steady: SteadyClock;
}

export function openBucketStore(deps: BucketStoreDeps): SharedBuckets {
  const reserves = openRecentlyUsed<Reserve>(MAX_RESERVES);
  return {
    async take(name, policy, onDrawn = () => {}) {
      const reserve = reserveOf(reserves, name.join(" "));
      if (deps.steady() >= reserve.usableUntil) reserve.tokens = 0;
      if (reserve.returned > 0) {
        reserve.returned -= 1;
        return 0;
      }
      while (reserve.tokens < 1) {
        const waitMs = reserve.emptyUntil - deps.steady();
        const isKnown = deps.steady() - reserve.drawnAt < KNOWN_MS;
        if (waitMs > 0 && isKnown) return Math.max(1, Math.ceil(waitMs / 1000));
        reserve.drawing ??= draw(deps, name, policy, reserve, onDrawn)
          .finally(() => depositRest(deps, name, policy, reserve));
        await reserve.drawing; // parallel calls await the same draw, then check again
      }
      reserve.tokens -= 1;
      return 0;
    },
    giveBack(name, policy) {
      const reserve = reserveOf(reserves, name.join(" "));
      reserve.returned += 1;
      if (reserve.drawing === undefined) depositRest(deps, name, policy, reserve);
    },
    async giveBackAll(group, policy) {
      const start = `${group} `;
      for (const [name, reserve] of [...reserves.entries()].filter(([name]) => name.startsWith(start))) {
        await depositAll(deps, [group, name.slice(start.length)], policy, reserve);
      }
    },
  };
}

/** Called when nothing is under way with the bucket. What is given back during a deposit is deposited after it. */
function depositRest(
  deps: BucketStoreDeps,
  name: readonly [string, string],
  policy: RatePolicy,
  reserve: Reserve,
): void {
  delete reserve.drawing;
  if (reserve.returned <= policy.burst / GIVE_BACK_DIVISOR) return;
  const given = reserve.returned;
  reserve.returned = 0;
  reserve.emptyUntil = 0;
  reserve.drawing = deposit(deps, name, policy, given).catch(() => {}) // lost, until the bucket fills by itself
    .finally(() => depositRest(deps, name, policy, reserve));
}

async function depositAll(
  deps: BucketStoreDeps,
  name: readonly [string, string],
  policy: RatePolicy,
  reserve: Reserve,
): Promise<void> {
  await reserve.drawing?.catch(() => {});
  const given = reserve.returned + (deps.steady() < reserve.usableUntil ? reserve.tokens : 0);
  [reserve.returned, reserve.tokens] = [0, 0];
  if (given > 0) await deposit(deps, name, policy, given).catch(() => {});
}

function reserveOf(reserves: RecentlyUsed<Reserve>, name: string): Reserve {
  const known = reserves.get(name);
  if (known !== undefined) return known;
  const fresh: Reserve = { tokens: 0, returned: 0, usableUntil: 0, emptyUntil: 0, drawnAt: -Infinity };
  reserves.set(name, fresh);
  return fresh;
}

async function draw(
  { store, clock, steady }: BucketStoreDeps,
  name: readonly [string, string],
  policy: RatePolicy,
  reserve: Reserve,
  onDrawn: (left: number) => void,
): Promise<void> {
  const key = rateBucketKey(...name);
  const lost = (): number => {
    reserve.emptyUntil = steady() + KNOWN_MS; // under so much contention the limit must be near
    return 0;
  };
  let left: number | undefined; // of the attempt that commits
  const drawn = await transact(
    { store, clock },
    { what: "bucket", attempts: MAX_ATTEMPTS, lost },
    async (tx) => {
      const now = clock();
      const entry = await rateBucketRecord.get(tx, key);
      const { tokens: available, filledAt } = refillBucket(entry?.value, policy, now);
      const block = Math.min(Math.floor(available), Math.max(1, Math.floor(available / BLOCK_DIVISOR)));
      if (block < 1) {
        const waitMs = filledAt - now + ((1 - available) / policy.perSecond) * 1000;
        reserve.emptyUntil = steady() + Math.ceil(waitMs);
        if (entry === null || entry.value.filledAt <= filledAt) return 0; // else the clock was put back
      }
      const drained = { tokens: available - block, filledAt };
      rateBucketRecord.replace(tx, key, entry, drained, filledAt + fillMs(policy));
      left = available - block;
      return block;
    },
  );
  if (drawn > 0 && left !== undefined) onDrawn(left);
  reserve.drawnAt = steady();
  reserve.usableUntil = steady() + fillMs(policy);
  reserve.tokens += drawn; // `+=` across an await would lose tokens that were taken meanwhile
}

/** Adds tokens to the bucket. A bucket that is not stored is full. */
async function deposit(
  { store, clock }: BucketStoreDeps,
  name: readonly [string, string],
  policy: RatePolicy,
  given: number,
): Promise<void> {
  const key = rateBucketKey(...name);
  const options = { what: "bucket", attempts: MAX_ATTEMPTS, lost: () => {} };
  await transact({ store, clock }, options, async (tx) => {
    const entry = await rateBucketRecord.get(tx, key);
    if (entry === null) return;
    const { tokens, filledAt } = refillBucket(entry.value, policy, clock());
    const value = { tokens: Math.min(policy.burst, tokens + given), filledAt };
    rateBucketRecord.replace(tx, key, entry, value, filledAt + fillMs(policy));
  });
}

/** Returns the time in which an empty bucket becomes full. */
function fillMs({ burst, perSecond }: RatePolicy): number {
  return Math.ceil((burst / perSecond) * 1000);
}

/**
 * Returns the bucket with what it has gained. The time of a process whose clock is ahead stays, because otherwise the
 * bucket would gain that difference again and again. A time further ahead is of a clock that has been put back since.
 */
function refillBucket(bucket: Bucket | undefined, { burst, perSecond }: RatePolicy, now: WallTime): Bucket {
  if (bucket === undefined) return { tokens: burst, filledAt: now };
  const { tokens, filledAt } = bucket;
  if (filledAt - now > MAX_SKEW_MS) return { tokens, filledAt: now };
  const gained = (Math.max(0, now - filledAt) / 1000) * perSecond;
  return { tokens: Math.min(burst, tokens + gained), filledAt: Math.max(filledAt, now) };
}

/** Of a group: one bucket for each certificate. Beyond it, the bucket that was unused longest is removed. */
const MAX_BUCKETS = 50_000;

/** Opens the buckets of this process. */
export function openLocalBuckets(steady: SteadyClock): BucketStore {
  const limiters = new Map<string, Limiter>();
  return {
    take([group, subject], policy) {
      const limiter = limiters.get(group) ?? openLimiter({ ...policy, maxKeys: MAX_BUCKETS }, steady);
      limiters.set(group, limiter);
      return Promise.resolve(limiter.take(subject));
    },
  };
}

// Middleware: limits the rate at which a participant may call a group of endpoints. Right after the certificate check
// it counts by the certificate's key, in this process, so that a flood costs neither a signature check nor a commit.
// Once the caller is authenticated, the call also counts for the participant, in the store, so that additional keys
// or processes do not allow additional calls. A rate-limited request does not consume its proof or idempotency key (contract
// RL3, RL4).

/**
 * Counts the call for the authenticated participant.
 *
 * @throws {ApiError} `request.rate_limited`
 */
export type LimitParticipant = (
  participant: { readonly orgId: string; readonly clientId: string },
) => Promise<void>;

/** Set by {@link RateLimit.guard}. */
export interface LimitVariables {
  limitParticipant: LimitParticipant;
}

export interface RateLimit {
  /**
   * Creates the middleware, which counts by certificate.
   *
   * @param group of the endpoint, or of the request if the endpoint has several uses
   * @throws {ApiError} `request.rate_limited` with `Retry-After`
   */
  guard(
    group: RateGroup | ((request: HonoRequest) => RateGroup),
  ): MiddlewareHandler<{ Variables: RequestVariables & CertificateVariables & LimitVariables }>;
  /**
   * Takes one token from a subject's bucket.
   *
   * @throws {ApiError} `request.rate_limited`
   */
  take(group: RateGroup, subject: string): Promise<void>;
}

export function openRateLimit(
  deps: {
    /** Shared by all processes. */
    readonly buckets: BucketStore;
    /** Of this process. */
    readonly localBuckets: BucketStore;
    readonly policies: RatePolicies;
    /** Called when the owner of the certificate is proven. */
    readonly onProven: (certificate: ClientCertificate, participant: Parameters<LimitParticipant>[0]) => void;
  },
): RateLimit {
  async function takeFrom(buckets: BucketStore, group: RateGroup, subject: string): Promise<void> {
    const retryAfterSeconds = await buckets.take([group, subject], deps.policies[group]);
    if (retryAfterSeconds > 0) {
      throw new ApiError("request.rate_limited", { detail: group, retryAfterSeconds });
    }
  }
  const take: RateLimit["take"] = (group, subject) => takeFrom(deps.buckets, group, subject);
  return {
    take,
    guard: (groupOf) =>
      createMiddleware<{ Variables: RequestVariables & CertificateVariables & LimitVariables }>(
        async function rateLimit(c, next) {
          const certificate = c.get("certificate");
          const group = typeof groupOf === "function" ? groupOf(c.req) : groupOf;
          await takeFrom(deps.localBuckets, group, certificate.spkiThumbprint);
          c.set("limitParticipant", async ({ orgId, clientId }) => {
            deps.onProven(certificate, { orgId, clientId });
            Object.assign(c.get("facts"), { orgId, clientId });
            await take(group, `participant ${orgId}`);
          });
          await next();
        },
      ),
  };
}
