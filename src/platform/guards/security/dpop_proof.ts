/**
 * Verifies DPoP proofs (RFC 9449 §4.3), for the authorization server, which binds tokens to the proof's key, and for
 * the resource endpoints, which also require `ath`. The replay record of a valid proof is written in the request's
 * commit.
 */
import { noteReceived, type RequestEnv } from "../../../base/http/context.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { ApiError, type ErrorReason, isStoreFailure } from "../../../base/kernel/api_error.ts";
import { mismatch, ok, quote, type Result, within } from "../../../base/kernel/result.ts";
import { checkClaims, type ClaimRule, exactly, text, verifyJwt } from "../../../base/jose/verify_jwt.ts";
import { inPart, type JwtFault, type UnverifiedJws } from "../../../base/jose/compact_jws.ts";
import {
  openProofKeys,
  type ProofKey,
  type ProofKeys,
  readRsaPublicJwk,
  type RsaPublicJwk,
} from "../../../base/jose/rsa_key.ts";
import { MAX_JWT_CHARACTERS } from "../../../base/limits.ts";
import { DPOP_MAX_AGE_SECONDS, DPOP_REPLAY_SECONDS, MAX_JTI_CHARACTERS } from "../../../base/profile.ts";
import { spentJwtKey } from "../../config/store_keys.ts";
import {
  commitReplayRecords as commitRecords,
  type Once,
  type TransactDeps,
} from "../../../base/store/transaction.ts";
import { createMiddleware } from "hono/factory";

/** A valid proof for this request. Only {@link VerifyDpopProof} makes one. */
export interface VerifiedProof {
  /** RFC 7638 thumbprint of the proof's key. */
  readonly jkt: string;
  /** To be committed with the effect of the request. */
  readonly once: Once;
}

/** The request that a proof must match. */
export interface ProvenRequest {
  /** The `DPoP` header as received. Deno joins two headers with a comma. */
  readonly header: string | undefined;
  readonly method: string;
  /** The endpoint's external URL, from configuration (Decision A6). */
  readonly url: string;
  /** SHA-256, base64url, of the access token, at resource endpoints. */
  readonly accessTokenHash?: string;
}

const HEADER = { maxCharacters: MAX_JWT_CHARACTERS, typ: ["dpop+jwt"], embeddedKey: true } as const;

/**
 * Verifies a proof. It may be used once: the caller must add its replay record to those of the request.
 *
 * @throws {ApiError} `dpop.invalid_proof`
 */
export type VerifyDpopProof = (request: ProvenRequest) => Promise<VerifiedProof>;

/** Opens the verification, with a cache of the keys that have verified a proof. */
export function openDpopVerifier(clock: Clock): VerifyDpopProof {
  const keys = openProofKeys();
  return (request) => verifyProof(clock, keys, request);
}

async function verifyProof(clock: Clock, keys: ProofKeys, request: ProvenRequest): Promise<VerifiedProof> {
  if (request.header === undefined) {
    const fault = { at: "the DPoP header", expected: "a proof JWT for this request" };
    throw new ApiError("dpop.invalid_proof", { fault });
  }
  noteReceived("DPoP proof", request.header);
  const proof = await verifyJwt(request.header, { // RFC 9449 §4.3 checks 1 to 7
    ...HEADER,
    findKey: (jws) => readProofKey(keys, jws),
    claims: (claims) =>
      checkClaims(claims, { // a nonce is ignored (contract DP15)
        jti: text(MAX_JTI_CHARACTERS),
        htm: exactly(request.method, "the method of this request"), // RFC 9449 §4.3 check 8
        htu: target(request.url), // RFC 9449 §4.3 check 9
        ath: tokenHash(request.accessTokenHash), // RFC 9449 §4.3 check 12
      }),
    times: { exp: "optional", iat: "required", maxAge: DPOP_MAX_AGE_SECONDS, clock }, // RFC 9449 §4.3 check 11, contract LT2
  });
  if (!proof.ok) throw new ApiError("dpop.invalid_proof", { fault: within("DPoP proof", proof.fault) });
  const { claims, signer } = proof.value;
  keys.remember(signer.jwk, signer);
  const jkt = signer.thumbprint;
  const once: Once = {
    key: spentJwtKey("dpop", jkt, claims.jti), // RFC 9449 §11.1
    expiresAt: clock() + DPOP_REPLAY_SECONDS * 1000,
    rejection: "dpop.replayed",
    fault: { at: "DPoP proof jti", expected: "new for each request", received: "one used before" },
  };
  return { jkt, once };
}

async function readProofKey(
  keys: ProofKeys,
  { header }: UnverifiedJws,
): Promise<Result<ProofKey & { readonly jwk: RsaPublicJwk }, JwtFault>> {
  const jwk = readRsaPublicJwk(header["jwk"]);
  return jwk.ok ? ok({ jwk: jwk.value, ...await keys.find(jwk.value) }) : inPart("header", jwk);
}

function target(url: string): ClaimRule<string> {
  return (htu, name) =>
    typeof htu === "string" && sameTarget(htu, url)
      ? ok(htu)
      : mismatch(name, `${quote(url)} (the URL of this endpoint)`, htu);
}

/** `expected` is undefined where no access token is presented. */
function tokenHash(expected: string | undefined): ClaimRule<unknown> {
  return (ath, name) =>
    expected === undefined || ath === expected
      ? ok(ath)
      : mismatch(name, `${quote(expected)} (the base64url SHA-256 of the access token)`, ath);
}

const MAX_HTU_CHARACTERS = 2048;
// RFC 3986 §4.3 without userinfo. A URL parser would repair spaces, line breaks and backslashes, and drop an empty
// user.
const ABSOLUTE_URI = /^https?:\/\/[\w.:[\]-]+(?:[/?#][!-[\]-~]*)?$/i;

/**
 * RFC 9449 §4.3 check 9: same target without query and fragment, after syntax-based and scheme-based normalization.
 */
function sameTarget(htu: string, expected: string): boolean {
  if (htu === expected) return true; // the usual case
  if (htu.length > MAX_HTU_CHARACTERS || !ABSOLUTE_URI.test(htu)) return false;
  const sent = URL.parse(htu);
  return sent !== null && normaliseUrl(sent) === normaliseUrl(new URL(expected));
}

function normaliseUrl(url: URL): string {
  const path = url.pathname.replaceAll(/%([0-9A-Fa-f]{2})/g, (escape, hex: string) => {
    const character = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase(); // RFC 3986 §6.2.2
  });
  return url.origin + path;
}

// Commits, at the end of the request, replay records that no other commit has written. A proof is used even if its
// request was a read or was rejected (RFC 9449 §11.1). A request that was rate-limited or failed because of the store
// does not consume its proof, so that it can be sent again unchanged.

/** Creates the middleware. If a replay record was used before, its rejection replaces the response. */
export function commitReplayRecords(deps: TransactDeps): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function spend(c, next) {
    await next();
    const replayRecords = c.get("replayRecords");
    // A rejection that a commit threw is already the response, unless a handler has caught it.
    const hidden = replayRecords.rejection !== undefined && c.error !== replayRecords.rejection;
    if (!hidden && (replayRecords.pending.length === 0 || usesUpNothing(c.error))) return;
    const answer = c.res;
    c.res = undefined; // a rejection replaces the whole response, including headers
    if (hidden) throw replayRecords.rejection;
    await commitRecords(deps, replayRecords);
    c.res = answer;
  });
}

/** Contract RL3. */
const LIMITS: readonly ErrorReason[] = ["request.rate_limited", "consents.too_many_open"];

function usesUpNothing(error: Error | undefined): boolean {
  return isStoreFailure(error) || error instanceof ApiError && LIMITS.includes(error.reason);
}
