/**
 * Idempotency claims map the key and body of a first request to the created resource. A claim is written in the
 * commit that creates the resource, so no intermediate state exists and a crash needs no cleanup (Decision C4).
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { IDEMPOTENCY_KEY } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { IDEMPOTENCY_SECONDS } from "../profile.ts";
import type { Key, Reader, Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";

/** Whether the text has the form of an idempotency key. Only such a text can have a claim. */
export function isIdempotencyKey(text: string): boolean {
  return IDEMPOTENCY_KEY.test(text);
}

/** A request's claim before its resource is created. */
export interface Claim {
  readonly key: Key;
  readonly fingerprint: string;
  /** The version of an expired claim with the same key, or null. */
  readonly formerVersion: string | null;
}

interface StoredClaim {
  readonly fingerprint: string;
  readonly resourceId: string;
  readonly expiresAt: number;
}

export interface ClaimStore {
  /**
   * Returns the resource that a request with this key and body created within 24 h, or a claim to create it with.
   *
   * @throws {ApiError} `idempotency.key_reused` if the key was used with another body
   */
  claimFor(
    key: Key,
    fingerprint: string,
    from?: Reader,
  ): Promise<{ readonly resourceId: string } | { readonly claim: Claim }>;
  /** Returns the resource that this key created within 24 h, whatever the body, or null. */
  resourceOf(key: Key): Promise<string | null>;
  /** Stages the claim. The commit fails if a parallel request has claimed the key. */
  stage(tx: Transaction, claim: Claim, resourceId: string): void;
}

export function openClaimStore(store: Store, clock: Clock): ClaimStore {
  return {
    async claimFor(key, fingerprint, from = store) {
      const entry = await from.get<StoredClaim>(key);
      if (entry === null || clock() >= entry.value.expiresAt) { // contract IK11, IK12
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
