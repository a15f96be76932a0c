/**
 * Middleware for `x-idempotency-key`. It runs after the signature check, because a retry must itself be authentic,
 * and before schema and status checks, because a retry of a successful request must succeed (Decision C4; contract
 * IK5).
 */
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { parseStrictJson } from "../../../base/http/body.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { RequestVariables } from "../../../base/http/context.ts";
import type { AccessVariables, KeysOfToken } from "../security/access_token.ts";
import type { BankVariables } from "../security/standing.ts";
import type { SignedBodyVariables } from "../security/payload_signature.ts";
import { claimKey } from "../../config/store_keys.ts";
import { z } from "zod";
import { defineRecord, instant, text } from "../../../base/store/record.ts";
import type { Clock, WallTime } from "../../../base/kernel/clock.ts";
import { IDEMPOTENCY_KEY, sha256 } from "../../../base/kernel/identifiers.ts";
import { stageLookup } from "../lists/lookup_store.ts";
import { IDEMPOTENCY_SECONDS } from "../../../base/profile.ts";
import type { Key, Reader } from "../../../base/store/store.ts";
import { check, type Transaction } from "../../../base/store/transaction.ts";
import canonicalize from "canonicalize";

/** Set by {@link idempotent}. */
export interface ClaimVariables {
  claim: Claim;
  /** The strictly parsed body. Its fields are not checked yet. */
  json: unknown;
}

type Env = {
  Variables: RequestVariables & AccessVariables & BankVariables & SignedBodyVariables & ClaimVariables;
};

/** Responds to a retry with the resource that the first request created. */
export type Replay = (c: Context<Env>, resourceId: string) => Promise<Response>;

/**
 * Returns the claim's key, which is prefetched together with the token's owner, or no key if the header will be
 * rejected.
 */
export function claimAhead(route: string): KeysOfToken {
  return (c, { clientId }) => {
    const key = c.req.header("x-idempotency-key");
    return key !== undefined && isIdempotencyKey(key)
      ? [claimKey(clientId, c.get("bank").code, route, key)]
      : [];
  };
}

/**
 * Creates the middleware. `route` separates the keys of different endpoints (contract IK3).
 *
 * @throws {ApiError} `request.header_*`
 */
export function idempotent(claims: ClaimStore): (route: string, replay: Replay) => MiddlewareHandler<Env> {
  return (route, replay) =>
    createMiddleware<Env>(async function idempotency(c, next) {
      const key = readKey(c.req.header("x-idempotency-key"));
      const json = parseStrictJson(c.get("signedBody").bytes);
      const owner = c.get("access").caller.clientId;
      const claim = {
        key: claimKey(owner, c.get("bank").code, route, key),
        fingerprint: await fingerprint(json),
      };
      const found = await claims.claimFor(c.get("reads"), claim);
      if ("resourceId" in found) return await replay(c, found.resourceId); // contract IK7
      c.set("claim", claim);
      c.set("json", json);
      await next();
    });
}

/** Contract IK1, IK2. */
function readKey(header: string | undefined): string {
  if (header === undefined) throw headerFault("request.header_missing", "Header.Missing", "is required.");
  if (!isIdempotencyKey(header)) {
    throw headerFault("request.header_invalid", "Header.Invalid", "must be 1 to 40 visible characters.");
  }
  return header;
}

function headerFault(
  reason: "request.header_missing" | "request.header_invalid",
  code: "Header.Missing" | "Header.Invalid",
  what: string,
): ApiError {
  return new ApiError(reason, {
    faults: [{ code, path: "x-idempotency-key", message: `x-idempotency-key ${what}` }],
  });
}

// Idempotency claims map the key and body of a first request to the created resource. A claim is written in the
// commit that creates the resource, so no intermediate state exists and a crash needs no cleanup (Decision C4).

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
interface FreeClaim extends Claim {
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
   * Returns the resource that a request with this key and body created within 24 h, or the free claim to create it
   * with.
   *
   * @throws {ApiError} `idempotency.key_reused` if the key was used with another body
   */
  claimFor(
    from: Reader,
    claim: Claim,
  ): Promise<{ readonly resourceId: string } | { readonly free: FreeClaim }>;
  /** Returns the resource that this key created within 24 h, whatever the body, or null. */
  resourceOf(from: Reader, key: Key): Promise<string | null>;
  /** Stages the claim. The commit fails if a parallel request has claimed the key (contract IK6, IK9). */
  stage(tx: Transaction, claim: FreeClaim, resourceId: string): void;
}

export function openClaimStore(clock: Clock): ClaimStore {
  return {
    async claimFor(from, { key, fingerprint }) {
      const entry = await claimRecord.get(from, key);
      if (entry === null || clock() >= entry.value.expiresAt) { // contract IK11, IK12
        return { free: { key, fingerprint, formerVersion: entry?.version ?? null } };
      }
      if (entry.value.fingerprint !== fingerprint) throw keyReused(); // contract IK8
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

// The fingerprint of a body: SHA-256 of its RFC 8785 form, so white space and member order do not matter (contract
// IK4; Decision C4).

export async function fingerprint(value: unknown): Promise<string> {
  return await sha256(canonicalize(value) ?? "");
}
