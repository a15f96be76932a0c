/**
 * Verifies DPoP proofs (RFC 9449 §4.3), for the authorization server, which binds tokens to the proof's key, and for
 * the resource endpoints, which also require `ath`. The replay record of a valid proof is written in the request's
 * commit.
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { unixSeconds } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { timeFault } from "../../base/jose/claim_times.ts";
import { type JsonObject, readCompactJws, verifyClaims } from "../../base/jose/compact_jws.ts";
import { proofKey, readRsaPublicJwk, rememberProofKey } from "../../base/jose/rsa_key.ts";
import { MAX_JWT_CHARACTERS } from "../../base/limits.ts";
import { DPOP_MAX_AGE_SECONDS, DPOP_REPLAY_SECONDS, MAX_JTI_CHARACTERS } from "../profile.ts";
import { idPart, spentJwtKey } from "../store_keys.ts";
import type { Once } from "../../base/store/transaction.ts";

/** A valid proof for this request. Only {@link verifyDpopProof} makes one. */
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

/**
 * Verifies a proof. It may be used once: the caller must add its replay record to those of the request.
 *
 * @throws {ApiError} `dpop.invalid_proof`
 */
export async function verifyDpopProof(
  clock: Clock,
  request: ProvenRequest,
): Promise<VerifiedProof> {
  if (request.header === undefined) throw rejected("no proof");
  const jws = readCompactJws(request.header, {
    maxCharacters: MAX_JWT_CHARACTERS,
    typ: ["dpop+jwt"],
    embeddedKey: true,
  });
  if (!jws.ok) throw rejected(jws.why); // RFC 9449 §4.3 checks 1 to 5
  const jwk = readRsaPublicJwk(jws.value.header["jwk"]);
  if (!jwk.ok) throw rejected(jwk.why); // RFC 9449 §4.3 check 7
  const ready = await proofKey(jwk.value);
  const claims = await verifyClaims(jws.value, ready.key); // RFC 9449 §4.3 check 6
  if (!claims.ok) throw rejected(claims.why);
  rememberProofKey(jwk.value, ready);
  const now = clock();
  const fault = claimFault(claims.value, request, unixSeconds(now));
  if (fault !== undefined) throw rejected(fault);
  const jkt = ready.thumbprint;
  const once: Once = {
    key: spentJwtKey("dpop", jkt, await idPart(String(claims.value["jti"]))), // RFC 9449 §11.1
    expiresAt: now + DPOP_REPLAY_SECONDS * 1000,
    rejection: "dpop.replayed",
  };
  return { jkt, once };
}

function claimFault(claims: JsonObject, request: ProvenRequest, now: number): string | undefined {
  const { jti, htm, htu, ath } = claims;
  if (typeof jti !== "string" || jti === "" || jti.length > MAX_JTI_CHARACTERS) return "jti";
  if (htm !== request.method) return "htm"; // RFC 9449 §4.3 check 8
  if (typeof htu !== "string" || !sameTarget(htu, request.url)) return "htu"; // RFC 9449 §4.3 check 9
  const times = timeFault(claims, { exp: "optional", iat: "required", maxAge: DPOP_MAX_AGE_SECONDS }, now);
  if (times !== undefined) return times; // RFC 9449 §4.3 check 11
  if (request.accessTokenHash !== undefined && ath !== request.accessTokenHash) return "ath"; // RFC 9449 §4.3 check 12
  return undefined;
}

// RFC 3986 §4.3 without userinfo. A URL parser would repair spaces, line breaks and backslashes, and drop an empty
// user.
const ABSOLUTE_URI = /^https?:\/\/[\w.:[\]-]+(?:[/?#][!-[\]-~]*)?$/i;

/**
 * RFC 9449 §4.3 check 9: same target without query and fragment, after syntax-based and scheme-based normalization.
 */
function sameTarget(htu: string, expected: string): boolean {
  if (htu === expected) return true; // the usual case
  if (htu.length > 2048 || !ABSOLUTE_URI.test(htu)) return false;
  const sent = URL.parse(htu);
  return sent !== null && normalised(sent) === normalised(new URL(expected));
}

function normalised(url: URL): string {
  const path = url.pathname.replaceAll(/%([0-9A-Fa-f]{2})/g, (escape, hex: string) => {
    const character = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase(); // RFC 3986 §6.2.2
  });
  return url.origin + path;
}

function rejected(why: string): ApiError {
  return new ApiError("dpop.invalid_proof", why);
}
