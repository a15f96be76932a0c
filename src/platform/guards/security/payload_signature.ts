/**
 * Middleware: verifies `x-jws-signature` over the exact bytes of the body with a current signing key of the token's
 * client (Decision C5). Only this signature protects the integrity of the body: DPoP does not cover it (RFC 9449
 * §11.7).
 */
import { noteReceived, type RequestVariables } from "../../../base/http/context.ts";
import { createMiddleware } from "hono/factory";
import { type Clock, type MonotonicClock, unixSeconds } from "../../../base/kernel/clock.ts";
import { type Failure, mismatch, ok, quote, type Result } from "../../../base/kernel/result.ts";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import { ApiError, type ErrorReason } from "../../../base/kernel/api_error.ts";
import { type BodyVariables, parseStrictJson } from "../../../base/http/body.ts";
import {
  invalidMember,
  readDetachedJws,
  type SignatureFault,
  type SignatureProfile,
  signDetached,
  type UnverifiedSignature,
  verifyDetachedJws,
} from "../../../base/jose/detached_jws.ts";
import { OBIE_CLAIM } from "../../../base/limits.ts";
import type { Config } from "../../config/config.ts";
import { documentOfKey } from "../../evidence/evidence_store.ts";
import type { Authentication, Evidence, EvidenceKind, SharedDocument } from "../../evidence/evidence.ts";
import type { AccessVariables } from "./access_token.ts";
import type { Caller, ParticipantKeys } from "./caller.ts";
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import type { OwnKey } from "../../../base/jose/own_key.ts";
import { digest } from "../../evidence/digest.ts";

/** A body with a verified signature, to be stored as evidence. Only {@link payloadSignature} makes one. */
export interface SignedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly signature: string;
  readonly profile: SignatureProfile;
  /** The key that verified the signature. */
  readonly key?: SharedDocument | undefined;
  /** Of the request. */
  readonly authentication: Authentication;
}

/** Returns what a signed request proves, for the history of what it changes. */
export function signedEvidence(
  kind: EvidenceKind,
  { bytes, signature, key, authentication }: SignedBody,
): { readonly evidence: readonly [Evidence]; readonly authentication: Authentication } {
  return { evidence: [{ kind, bytes, signature, key }], authentication };
}

/** Set by {@link payloadSignature}. */
export interface SignedBodyVariables {
  signedBody: SignedBody;
}

export interface PayloadSignatureDeps {
  readonly clock: Clock;
  readonly keys: ParticipantKeys;
  /** Value of the `tan` claim: the directory's host. */
  readonly trustAnchor: string;
  /** Claims that every signature must have. */
  readonly requiredClaims: Config["signatureClaims"];
}

const MAX_AGE_SECONDS = 3600;
const FUTURE_SECONDS = 60; // contract SG4
const REASON = {
  "Signature.Malformed": "signature.malformed",
  "Signature.MissingClaim": "signature.missing_claim",
  "Signature.InvalidClaim": "signature.invalid_claim",
  "Signature.Invalid": "signature.invalid",
} as const satisfies Record<SignatureFault["code"], ErrorReason>;

/**
 * Creates the middleware.
 *
 * @throws {ApiError} `signature.*`, in the order of contract SG5
 */
export function payloadSignature(
  deps: PayloadSignatureDeps,
): ReturnType<typeof createMiddleware<{ Variables: BodyVariables & AccessVariables & SignedBodyVariables }>> {
  const required = deps.requiredClaims.map((name) => OBIE_CLAIM[name]);
  return createMiddleware<{ Variables: BodyVariables & AccessVariables & SignedBodyVariables }>(
    async function payloadSignature(c, next) {
      const header = c.req.header("x-jws-signature");
      if (header === undefined || header === "") throw missingError();
      noteReceived("x-jws-signature", header);
      const signature = readDetachedJws(header, required);
      if (!signature.ok) throw signatureError(signature);
      const { kid, profile } = signature.value;
      const { caller, authentication } = c.get("access");
      const claims = checkObieClaims(deps, signature.value, caller);
      if (!claims.ok) throw signatureError(invalidMember(claims));
      const key = await deps.keys.signingKey(caller, kid);
      if (key === undefined) {
        const { fault } = await deps.keys.kidFault(caller, kid);
        throw signatureError(invalidMember({ ok: false, fault: { ...fault, at: "kid" } }));
      }
      const bytes = c.get("body");
      const verified = await verifyDetachedJws(signature.value, bytes, key);
      if (!verified.ok) throw signatureError(verified);
      c.set("signedBody", { bytes, signature: header, profile, key: documentOfKey(key), authentication });
      await next();
    },
  );
}

/** Decision C5: iat, iss and tan are checked if present. `PLATFORM_SIGNATURE_CLAIMS` says which must be. */
function checkObieClaims(
  deps: PayloadSignatureDeps,
  { header }: UnverifiedSignature,
  caller: Caller,
): Result<JsonObject> {
  const now = unixSeconds(deps.clock());
  const has = (name: string): boolean => Object.hasOwn(header, name);
  const { [OBIE_CLAIM.iat]: iat, [OBIE_CLAIM.iss]: iss, [OBIE_CLAIM.tan]: tan } = header;
  if (has(OBIE_CLAIM.iat)) {
    const fresh = typeof iat === "number" && iat <= now + FUTURE_SECONDS && iat >= now - MAX_AGE_SECONDS;
    if (!fresh) {
      const expected =
        `a number of Unix seconds, at most ${MAX_AGE_SECONDS} s old and ${FUTURE_SECONDS} s ahead of now (${now})`;
      return mismatch(OBIE_CLAIM.iat, expected, iat);
    }
  }
  const names = [caller.orgId, caller.clientId, `${caller.orgId}/${caller.softwareId}`];
  if (has(OBIE_CLAIM.iss) && !names.some((name) => name === iss)) {
    return mismatch(OBIE_CLAIM.iss, names.map(quote).join(" or "), iss);
  }
  return has(OBIE_CLAIM.tan) && tan !== deps.trustAnchor
    ? mismatch(OBIE_CLAIM.tan, `${quote(deps.trustAnchor)} (the host of the directory)`, tan)
    : ok(header);
}

function missingError(): ApiError {
  const message = "x-jws-signature must be a detached JWS over the body; it is missing.";
  const fault = { code: "Signature.Missing", path: "x-jws-signature", message } as const;
  return new ApiError("signature.missing", { faults: [fault] });
}

function signatureError({ fault }: Failure<SignatureFault>): ApiError {
  return new ApiError(REASON[fault.code], { fault, faults: [fault] });
}

/** Check: parses the bytes whose signature is verified. */
export const signedJson = createMiddleware<{ Variables: SignedBodyVariables & { json: unknown } }>(
  async function strictJson(c, next) {
    c.set("json", parseStrictJson(c.get("signedBody").bytes));
    await next();
  },
);

// Signs every JSON response of a resource endpoint, including errors, in the profile of the request's own signature
// (contract SG6), so that a client can prove what it received. The same answer gets the same signature for a minute,
// because a signature costs more than the rest of a read: a resource that is read soon after it was created, or again.

export interface AnswerSignatureDeps {
  readonly clock: Clock;
  /** Milliseconds that never go back. */
  readonly monotonic: MonotonicClock;
  readonly signer: OwnKey;
  /** The `iss` claim: the platform's authorization host. */
  readonly issuer: string;
  readonly trustAnchor: string;
}

interface Env {
  Variables: RequestVariables & Partial<SignedBodyVariables>;
}

/** How long a signature is reused. OBIE has no limit for the age of `iat`; the platform accepts an hour (contract SG4). */
const REUSED_MS = 60_000;
const MAX_REUSED = 2000;

interface Signed {
  readonly signature: Promise<string>;
  readonly until: number;
}

/** Middleware around the resource routes. */
export function answerSignature(deps: AnswerSignatureDeps): ReturnType<typeof createMiddleware<Env>> {
  const signOnce = openSignatures(deps);
  return createMiddleware<Env>(async function signAnswer(c, next) {
    await next();
    if (
      c.get("surface") !== "resource" ||
      c.res.headers.get("content-type")?.startsWith("application/json") !== true
    ) return;
    const body = new Uint8Array(await c.res.arrayBuffer());
    const profile = c.get("signedBody")?.profile ?? profileOf(c.req.header("x-jws-signature"));
    const signature = await signOnce(body, profile);
    const { status, headers } = c.res;
    headers.set("x-jws-signature", signature);
    c.res = undefined; // replaces the response instead of merging with it
    c.res = new Response(body, { status, headers });
  });
}

type SignOnce = (body: Uint8Array<ArrayBuffer>, profile: SignatureProfile) => Promise<string>;

/** Signs each body once a minute, with each key and in each profile. A signature is about the body, and not its path. */
function openSignatures(deps: AnswerSignatureDeps): SignOnce {
  const known = openRecentlyUsed<Signed>(MAX_REUSED);
  return async (body, profile) => {
    const name = digest(`${profile} ${deps.signer.kid} `, body);
    const before = known.get(name);
    if (before !== undefined && deps.monotonic() < before.until) return await before.signature;
    const signature = sign(deps, body, profile);
    known.set(name, { signature, until: deps.monotonic() + REUSED_MS });
    signature.catch(() => known.delete(name));
    return await signature;
  };
}

function sign(
  { clock, signer, issuer, trustAnchor }: AnswerSignatureDeps,
  body: Uint8Array<ArrayBuffer>,
  profile: SignatureProfile,
): Promise<string> {
  return signDetached(body, signer, { profile, iat: unixSeconds(clock()), issuer, trustAnchor });
}

/** Returns the profile of the caller's signature, whether or not it is valid, and A if it has none. */
function profileOf(sent: string | undefined): SignatureProfile {
  const signature = readDetachedJws(sent ?? "");
  return signature.ok ? signature.value.profile : "A";
}
