/**
 * Middleware: verifies `x-jws-signature` over the exact bytes of the body with a current signing key of the token's
 * client (Decision C5). Only this signature protects the integrity of the body: DPoP does not cover it (RFC 9449
 * §11.7).
 */
import { noteReceived } from "../../../base/http/context.ts";
import { createMiddleware } from "hono/factory";
import { type Clock, unixSeconds } from "../../../base/kernel/clock.ts";
import { type Failure, mismatch, ok, quoted, type Result } from "../../../base/kernel/result.ts";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import { ApiError, type ErrorReason } from "../../../base/kernel/api_error.ts";
import { type BodyVariables, parseStrictJson } from "../../../base/http/body.ts";
import {
  invalidMember,
  readDetachedJws,
  type SignatureFault,
  type SignatureProfile,
  type UnverifiedSignature,
  verifyDetachedJws,
} from "../../../base/jose/detached_jws.ts";
import { OBIE_CLAIM } from "../../../base/limits.ts";
import type { Config } from "../../config/config.ts";
import { documentOfKey, type SharedDocument } from "../../evidence/document_store.ts";
import type { Authentication, Evidence, EvidenceKind } from "../../evidence/evidence.ts";
import type { AccessVariables } from "./access_token.ts";
import type { Caller, ParticipantKeys } from "./caller.ts";

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
  place?: string,
): { readonly evidence: readonly [Evidence]; readonly authentication: Authentication } {
  const evidence = { kind, bytes, signature, key, ...(place === undefined ? {} : { place }) };
  return { evidence: [evidence], authentication };
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
      if (header === undefined || header === "") throw missing();
      noteReceived("x-jws-signature", header);
      const signature = readDetachedJws(header, required);
      if (!signature.ok) throw rejected(signature);
      const { kid, profile } = signature.value;
      const { caller, authentication } = c.get("access");
      const claims = checkObieClaims(deps, signature.value, caller);
      if (!claims.ok) throw rejected(invalidMember(claims));
      const key = await deps.keys.signingKey(caller, kid);
      if (key === undefined) {
        const { fault } = await deps.keys.kidFault(caller, kid);
        throw rejected(invalidMember({ ok: false, fault: { ...fault, at: "kid" } }));
      }
      const bytes = c.get("body");
      const verified = await verifyDetachedJws(signature.value, bytes, key);
      if (!verified.ok) throw rejected(verified);
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
    return mismatch(OBIE_CLAIM.iss, names.map(quoted).join(" or "), iss);
  }
  return has(OBIE_CLAIM.tan) && tan !== deps.trustAnchor
    ? mismatch(OBIE_CLAIM.tan, `${quoted(deps.trustAnchor)} (the host of the directory)`, tan)
    : ok(header);
}

function missing(): ApiError {
  const message = "x-jws-signature must be a detached JWS over the body; it is missing.";
  const fault = { code: "Signature.Missing", path: "x-jws-signature", message } as const;
  return new ApiError("signature.missing", { faults: [fault] });
}

function rejected({ fault }: Failure<SignatureFault>): ApiError {
  return new ApiError(REASON[fault.code], { fault, faults: [fault] });
}

/** Check: parses the bytes whose signature is verified. */
export const signedJson = createMiddleware<{ Variables: SignedBodyVariables & { json: unknown } }>(
  async function strictJson(c, next) {
    c.set("json", parseStrictJson(c.get("signedBody").bytes));
    await next();
  },
);
