/**
 * Checks the form of a compact JWS before any cryptography: three canonical base64url segments, a header that is one
 * JSON object without duplicate members, PS256, and no member by which a token could bring its own key, compression
 * or processing rules (contract CA7, J9-J13, J17, J18).
 */
import { compactVerify, errors } from "jose";
import { isJsonObject, strictJson, utf8Text } from "../kernel/json.ts";
import { type Failure, type Mismatch, mismatch, ok, type Result } from "../kernel/result.ts";
import { SIGNATURE_ALG } from "../limits.ts";

/** A decoded JSON object with unchecked members. */
export type JsonObject = { readonly [name: string]: unknown };

/** A JWS with a checked form and header, and an unverified signature. */
export interface UnverifiedJws {
  readonly token: string;
  readonly header: JsonObject;
}

/** Rules for the protected header of one kind of JWS. */
export interface HeaderRules {
  /** Limit in characters. A longer token is rejected without being decoded. */
  readonly maxCharacters: number;
  /**
   * Accepted `typ` values. `undefined` in the list means that it may be absent. Compared as a media type (RFC 7515
   * §4.1.9).
   */
  readonly typ: readonly (string | undefined)[];
  /** Whether the header must contain a key. Only a DPoP proof does (RFC 9449 §4.2). */
  readonly embeddedKey?: true;
}

/** The part that a fault concerns. From `payload` on, the signature is verified, so the signer made the mistake. */
export type JwtPart = "form" | "header" | "key" | "signature" | "payload" | "claims" | "times";

/** Why a JWT is not accepted. */
export interface JwtFault extends Mismatch {
  readonly part: JwtPart;
}

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const FORBIDDEN = ["jku", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk", "apu", "apv", "p2c", "p2s"];

/** Checks the form and the header of a compact JWS. Does not read the payload. */
export function readCompactJws(token: string, rules: HeaderRules): Result<UnverifiedJws, JwtFault> {
  if (token.length > rules.maxCharacters) {
    return inPart("form", mismatch("token", `at most ${rules.maxCharacters} characters`, token.length));
  }
  if (!COMPACT.test(token) || !token.split(".").every(isCanonicalBase64url)) {
    return inPart("form", mismatch("token", "a compact JWS: three segments of canonical base64url"));
  }
  const header = decodeObject("header", token.slice(0, token.indexOf(".")));
  if (!header.ok) return inPart("header", header);
  const checked = checkHeader(header.value, rules);
  return checked.ok ? ok({ token, header: header.value }) : inPart("header", checked);
}

/** Verifies the signature, then decodes the claims, which must be one JSON object without duplicate members. */
export async function verifyClaims(
  jws: UnverifiedJws,
  key: CryptoKey,
): Promise<Result<JsonObject, JwtFault>> {
  const payload = await verifySignature(jws, key);
  if (!payload.ok) return payload;
  const claims = objectFrom("claims", payload.value);
  return claims.ok ? claims : inPart("payload", claims);
}

/**
 * Decodes the claims of a JWS without verifying it. Use it only to find the statement or issuer that names the
 * verification key.
 */
export function unverifiedClaims(jws: UnverifiedJws): Result<JsonObject> {
  return decodeObject("claims", jws.token.split(".")[1] ?? "");
}

/** Returns the failure of a check as one of a JWT. */
export function inPart(part: JwtPart, { fault }: Failure): Failure<JwtFault> {
  return { ok: false, fault: { part, ...fault } };
}

/** Whether base64url text is the canonical spelling of its bytes: no padding and no stray trailing bits. */
export function isCanonicalBase64url(text: string): boolean {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return false;
  const rest = text.length % 4;
  if (rest === 0) return true;
  return rest === 2 ? /[AQgw]$/.test(text) : rest === 3 && /[AEIMQUYcgkosw048]$/.test(text);
}

async function verifySignature(
  { token, header }: UnverifiedJws,
  key: CryptoKey,
): Promise<Result<Uint8Array, JwtFault>> {
  try {
    return ok((await compactVerify(token, key, { algorithms: [SIGNATURE_ALG] })).payload);
  } catch (error) {
    joseFailure(error); // rethrows what is not a JOSE failure
    const named = Object.hasOwn(header, "jwk")
      ? "the private key of the jwk in the header"
      : "the key that kid names";
    return inPart("signature", mismatch("signature", `made with ${named}`));
  }
}

/**
 * Returns the reason of a failure inside jose or WebCrypto, and rethrows other errors. An invalid token must never
 * cause a 500 (contract J38).
 */
export function joseFailure(error: unknown): string {
  if (error instanceof errors.JOSEError) return error.code;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof DOMException) {
    return error.name;
  }
  throw error;
}

function checkHeader(header: JsonObject, rules: HeaderRules): Result<JsonObject> {
  if (header["alg"] !== SIGNATURE_ALG) return mismatch("header alg", SIGNATURE_ALG, header["alg"]);
  const bad = FORBIDDEN.find((name) => Object.hasOwn(header, name));
  if (bad !== undefined) return mismatch(`header ${bad}`, "absent", header[bad]);
  const wantsKey = rules.embeddedKey === true;
  if (Object.hasOwn(header, "jwk") !== wantsKey) {
    return mismatch("header jwk", wantsKey ? "the public key of the signer" : "absent", header["jwk"]);
  }
  if (rules.typ.some((accepted) => sameType(header, accepted))) return ok(header);
  const types = rules.typ.map((accepted) => accepted ?? "absent").join(" or ");
  return mismatch("header typ", types, header["typ"]);
}

function sameType(header: JsonObject, accepted: string | undefined): boolean {
  if (!Object.hasOwn(header, "typ")) return accepted === undefined;
  const typ = header["typ"];
  if (typeof typ !== "string" || accepted === undefined) return false;
  return typ.toLowerCase().replace(/^application\//, "") === accepted.toLowerCase();
}

/**
 * Decodes a base64url segment that must be one JSON object without duplicate members.
 *
 * @param at the segment's name in a fault
 */
export function decodeObject(at: string, segment: string): Result<JsonObject> {
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(segment, { alphabet: "base64url" });
  } catch {
    return mismatch(at, "base64url");
  }
  return objectFrom(at, bytes);
}

function objectFrom(at: string, bytes: Uint8Array): Result<JsonObject> {
  const decoded = utf8Text(bytes);
  if (decoded === undefined) return mismatch(at, "UTF-8");
  const parsed = strictJson(decoded);
  if (!parsed.ok) {
    return mismatch(at, "one JSON object with unambiguous members", `JSON that ${parsed.fault}`);
  }
  const value = parsed.value;
  return isJsonObject(value) ? ok(value) : mismatch(at, "one JSON object with unambiguous members", value);
}
