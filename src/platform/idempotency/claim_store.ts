/**
 * Idempotency claims: key and body of a first request -> the resource it made. A claim is written in the commit that
 * makes the resource, so there is no state in between and nothing to clean up after a crash (Decision C4).
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { IDEMPOTENCY_KEY } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { IDEMPOTENCY_SECONDS } from "../profile.ts";
import type { Key, Reader, Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";

/** Whether the text can be an idempotency key: what cannot has claimed nothing. */
export function isIdempotencyKey(text: string): boolean {
  return IDEMPOTENCY_KEY.test(text);
}

/** A request's claim before it has led to anything. */
export interface Claim {
  readonly key: Key;
  readonly fingerprint: string;
  /** The version of an expired claim under the same key, or null. */
  readonly formerVersion: string | null;
}

interface StoredClaim {
  readonly fingerprint: string;
  readonly resourceId: string;
  readonly expiresAt: number;
}

/** Looks claims up and stages them. */
export interface ClaimStore {
  /**
   * The resource that a request with this key and body made within 24 h, or the claim to make it with.
   *
   * @throws {ApiError} `idempotency.key_reused` where the key came with another body
   */
  claimFor(
    key: Key,
    fingerprint: string,
    from?: Reader,
  ): Promise<{ readonly resourceId: string } | { readonly claim: Claim }>;
  /** The resource that this key made within 24 h, whatever the body; null where there is none. */
  resourceOf(key: Key): Promise<string | null>;
  /** Stages the claim; the commit fails where a parallel request has claimed the key. */
  stage(tx: Transaction, claim: Claim, resourceId: string): void;
}

/** Opens the store of claims. */
export function openClaimStore(store: Store, clock: Clock): ClaimStore {
  return {
    async claimFor(key, fingerprint, from = store) {
      const entry = await from.get<StoredClaim>(key);
      if (entry === null || clock() >= entry.value.expiresAt) { // a claim lives 24 h from the first request (contract IK11, IK12)
        return { claim: { key, fingerprint, formerVersion: entry?.version ?? null } };
      }
      if (entry.value.fingerprint !== fingerprint) throw keyReused();
      return { resourceId: entry.value.resourceId };
    },
    async resourceOf(key) {
      const claim = (await store.get<StoredClaim>(key))?.value;
      return claim !== undefined && clock() < claim.expiresAt ? claim.resourceId : null;
    },
    stage(tx, claim, resourceId) {
      check(tx, claim.key, claim.formerVersion);
      const expiresAt = clock() + IDEMPOTENCY_SECONDS * 1000;
      const value: StoredClaim = { fingerprint: claim.fingerprint, resourceId, expiresAt };
      set(tx, claim.key, value, expiresAt);
    },
  };
}

function keyReused(): ApiError {
  const message = "This x-idempotency-key was used with another body.";
  const fault = { code: "Rules.ResourceAlreadyExists", path: "x-idempotency-key", message } as const;
  return new ApiError("idempotency.key_reused", { faults: [fault] });
}
