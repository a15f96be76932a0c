/**
 * Idempotency claims map the key and body of a first request to the created resource. A claim is written in the
 * commit that creates the resource, so no intermediate state exists and a crash needs no cleanup (Decision C4).
 */
import { z } from "zod";
import { defineRecord } from "../../../base/store/record.ts";
import { instant, text } from "../../../base/store/record_fields.ts";
import type { Clock, WallTime } from "../../../base/kernel/clock.ts";
import { IDEMPOTENCY_KEY, sha256 } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { stageLookup } from "../lookup/lookup_store.ts";
import { IDEMPOTENCY_SECONDS } from "../../../base/profile.ts";
import type { Key, Reader } from "../../../base/store/store.ts";
import { check, type Transaction } from "../../../base/store/transaction.ts";
import canonicalize from "canonicalize";

/** Whether the text has the form of an idempotency key. Only such a text can have a claim. */
export function isIdempotencyKey(text: string): boolean {
  return IDEMPOTENCY_KEY.test(text);
}

/** A request's idempotency key, as the key of its claim, and the fingerprint of its body. */
export interface Claim {
  readonly key: Key;
  readonly fingerprint: string;
}

/** A claim that is free. */
export interface FreeClaim extends Claim {
  /** The version of an expired claim with the same key, or null. */
  readonly formerVersion: string | null;
}

interface StoredClaim {
  readonly fingerprint: string;
  readonly resourceId: string;
  readonly expiresAt: WallTime;
}

export const claimRecord = defineRecord<StoredClaim>({
  name: "idempotency_claim",
  keyParts: ["client id", "bank code", "route", "idempotency key"],
  what:
    "The resource that the first request with an idempotency key created, and the fingerprint of its body.",
  schema: z.looseObject({ fingerprint: text, resourceId: text, expiresAt: instant }),
  version: 1,
  lifetime: "24 h.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

export interface ClaimStore {
  /**
   * Returns the resource that a request with this key and body created within 24 h, or the free claim to create it with.
   *
   * @throws {ApiError} `idempotency.key_reused` if the key was used with another body
   */
  claimFor(
    from: Reader,
    claim: Claim,
  ): Promise<{ readonly resourceId: string } | { readonly free: FreeClaim }>;
  /** Returns the resource that this key created within 24 h, whatever the body, or null. */
  resourceOf(from: Reader, key: Key): Promise<string | null>;
  /** Stages the claim. The commit fails if a parallel request has claimed the key. */
  stage(tx: Transaction, claim: FreeClaim, resourceId: string): void;
}

export function openClaimStore(clock: Clock): ClaimStore {
  return {
    async claimFor(from, { key, fingerprint }) {
      const entry = await claimRecord.get(from, key);
      if (entry === null || clock() >= entry.value.expiresAt) { // contract IK11, IK12
        return { free: { key, fingerprint, formerVersion: entry?.version ?? null } };
      }
      if (entry.value.fingerprint !== fingerprint) throw keyReused();
      return { resourceId: entry.value.resourceId };
    },
    async resourceOf(from, key) {
      const claim = (await claimRecord.get(from, key))?.value;
      return claim !== undefined && clock() < claim.expiresAt ? claim.resourceId : null;
    },
    stage(tx, claim, resourceId) {
      check(tx, claim.key, claim.formerVersion);
      const now = clock();
      const expiresAt = now + IDEMPOTENCY_SECONDS * 1000;
      const value = { fingerprint: claim.fingerprint, resourceId, expiresAt };
      claimRecord.set(tx, claim.key, value, expiresAt);
      const [, clientId = "", bank = "", , idempotencyKey = ""] = claim.key;
      stageLookup(tx, "idempotency key", idempotencyKey, { id: resourceId, clientId, bank, createdAt: now });
    },
  };
}

function keyReused(): ApiError {
  const message = "x-idempotency-key must be a new key for a new body; this key was used with another body.";
  const fault = { code: "Rules.ResourceAlreadyExists", path: "x-idempotency-key", message } as const;
  return new ApiError("idempotency.key_reused", { faults: [fault] });
}

// The fingerprint of a body: SHA-256 of its RFC 8785 form, so white space and member order do not matter (Decision
// C4).

export async function fingerprint(value: unknown): Promise<string> {
  return await sha256(canonicalize(value) ?? "");
}
