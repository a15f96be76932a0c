/**
 * Checks the form of a compact JWS before any cryptography: three canonical base64url segments, a header that is one
 * JSON object without duplicate members, PS256, and no member by which a token could bring its own key, compression
 * or processing rules (contract CA7, J9-J13, J17, J18).
 */
import { compactVerify, errors } from "jose";
import { strictJson, utf8Text } from "../kernel/strict_json.ts";
import { no, type Verdict, yes } from "../kernel/verdict.ts";
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

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const FORBIDDEN = ["jku", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk", "apu", "apv", "p2c", "p2s"];

/** Checks the form and the header of a compact JWS. Does not read the payload. */
export function readCompactJws(token: string, rules: HeaderRules): Verdict<UnverifiedJws> {
  if (token.length > rules.maxCharacters) return no("token too long");
  if (!COMPACT.test(token) || !token.split(".").every(isCanonicalBase64url)) return no("not a compact JWS");
  const header = decodeObject(token.slice(0, token.indexOf(".")));
  if (!header.ok) return no(`header ${header.why}`);
  const fault = headerFault(header.value, rules);
  return fault === undefined ? yes({ token, header: header.value }) : no(fault);
}

/** Verifies the signature, then decodes the claims, which must be one JSON object without duplicate members. */
export async function verifyClaims(jws: UnverifiedJws, key: CryptoKey): Promise<Verdict<JsonObject>> {
  const payload = await verifySignature(jws.token, key);
  if (!payload.ok) return payload;
  const claims = objectFrom(payload.value);
  return claims.ok ? claims : no(`claims ${claims.why}`);
}

/**
 * Decodes the claims of a JWS without verifying it. Use it only to find the statement or issuer that names the
 * verification key.
 */
export function unverifiedClaims(jws: UnverifiedJws): Verdict<JsonObject> {
  return decodeObject(jws.token.split(".")[1] ?? "");
}

/** Whether base64url text is the canonical spelling of its bytes: no padding and no stray trailing bits. */
export function isCanonicalBase64url(text: string): boolean {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return false;
  const rest = text.length % 4;
  if (rest === 0) return true;
  return rest === 2 ? /[AQgw]$/.test(text) : rest === 3 && /[AEIMQUYcgkosw048]$/.test(text);
}

async function verifySignature(token: string, key: CryptoKey): Promise<Verdict<Uint8Array>> {
  try {
    return yes((await compactVerify(token, key, { algorithms: [SIGNATURE_ALG] })).payload);
  } catch (error) {
    return no(joseFailure(error));
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

function headerFault(header: JsonObject, rules: HeaderRules): string | undefined {
  if (header["alg"] !== SIGNATURE_ALG) return "alg is not PS256";
  const bad = FORBIDDEN.find((name) => Object.hasOwn(header, name));
  if (bad !== undefined) return `header member ${bad}`;
  if (Object.hasOwn(header, "jwk") !== (rules.embeddedKey === true)) return "jwk in header";
  return rules.typ.some((accepted) => sameType(header, accepted)) ? undefined : "typ";
}

function sameType(header: JsonObject, accepted: string | undefined): boolean {
  if (!Object.hasOwn(header, "typ")) return accepted === undefined;
  const typ = header["typ"];
  if (typeof typ !== "string" || accepted === undefined) return false;
  return typ.toLowerCase().replace(/^application\//, "") === accepted.toLowerCase();
}

/** Decodes a base64url segment that must be one JSON object without duplicate members. */
export function decodeObject(segment: string): Verdict<JsonObject> {
  try {
    return objectFrom(Uint8Array.fromBase64(segment, { alphabet: "base64url" }));
  } catch {
    return no("is not base64url");
  }
}

function objectFrom(bytes: Uint8Array): Verdict<JsonObject> {
  const decoded = utf8Text(bytes);
  if (decoded === undefined) return no("is not UTF-8");
  const parsed = strictJson(decoded);
  if (!parsed.ok) return no(parsed.why);
  const value = parsed.value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return no("is no JSON object");
  return yes(value as JsonObject);
}
