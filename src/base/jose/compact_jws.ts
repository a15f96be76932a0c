/**
 * The strict shape of a compact JWS, checked before any cryptography: three canonical base64url segments, a
 * header that is one JSON object without duplicate members, PS256, and none of the members that would let a
 * token bring its own key, compression or processing rules (contract CA7, J9-J13, J17, J18).
 */
import { compactVerify, errors } from "jose";
import { strictJson, utf8Text } from "../kernel/strict_json.ts";
import { no, type Verdict, yes } from "../kernel/verdict.ts";
import { SIGNATURE_ALG } from "../limits.ts";

/** A JSON object as decoded: nothing about its members is known yet. */
export type JsonObject = { readonly [name: string]: unknown };

/** A JWS whose shape and header are sound and whose signature has not been checked. */
export interface UnverifiedJws {
  readonly token: string;
  readonly header: JsonObject;
}

/** What a kind of JWS allows in its protected header. */
export interface HeaderRules {
  /** Characters; a longer token is rejected unread. */
  readonly maxCharacters: number;
  /** Accepted `typ`; `undefined` in the list means it may be absent. Compared as a media type (RFC 7515 §4.1.9). */
  readonly typ: readonly (string | undefined)[];
  /** A DPoP proof carries its key; nothing else may (RFC 9449 §4.2). */
  readonly embeddedKey?: true;
}

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const FORBIDDEN = ["jku", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk", "apu", "apv", "p2c", "p2s"];

/** Reads the shape and header of a compact JWS. The payload is not looked at. */
export function readCompactJws(token: string, rules: HeaderRules): Verdict<UnverifiedJws> {
  if (token.length > rules.maxCharacters) return no("token too long");
  if (!COMPACT.test(token) || !token.split(".").every(isCanonicalBase64url)) return no("not a compact JWS");
  const header = decodeObject(token.slice(0, token.indexOf(".")));
  if (!header.ok) return no(`header ${header.why}`);
  const fault = headerFault(header.value, rules);
  return fault === undefined ? yes({ token, header: header.value }) : no(fault);
}

/** Verifies the signature, then decodes the claims: one JSON object without duplicate members. */
export async function verifyClaims(jws: UnverifiedJws, key: CryptoKey): Promise<Verdict<JsonObject>> {
  const payload = await verifySignature(jws.token, key);
  if (!payload.ok) return payload;
  const claims = objectFrom(payload.value);
  return claims.ok ? claims : no(`claims ${claims.why}`);
}

/**
 * The claims of a JWS that nobody has verified. For one purpose: finding the statement or issuer that says which
 * key to verify with.
 */
export function unverifiedClaims(jws: UnverifiedJws): Verdict<JsonObject> {
  return decodeObject(jws.token.split(".")[1] ?? "");
}

/** Whether base64url text is the one canonical spelling of its bytes: no padding, no stray trailing bits. */
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

/** The words for a failure inside jose or WebCrypto: a bad token must never become a 500 (contract J38). */
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

/** A base64url segment as one JSON object without duplicate members, or why it is none. */
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
