/**
 * The port of the keys that this program signs and decrypts with. The private half is a WebCrypto key of this process, or
 * it is in a token and only another process can use it.
 */
import { base64url } from "../kernel/identifiers.ts";
import { SIGNATURE_ALG } from "../limits.ts";
import type { JsonObject } from "./compact_jws.ts";

/** A private RSA key that never enters this process. Both functions throw an ApiError if the token does not answer. */
export interface TokenKey {
  /** Returns a PS256 signature (RFC 7518 §3.5). */
  sign(input: Bytes): Promise<Bytes>;
  /** RSA-OAEP-256 (RFC 7518 §4.3). Returns undefined for bytes that this key cannot decrypt. */
  decrypt(encrypted: Bytes): Promise<Bytes | undefined>;
}

/** Finds the keys of a token. */
export interface Token {
  key(kid: string): TokenKey;
}

/** A private key and the kid of its published public key. */
export interface OwnKey {
  readonly kid: string;
  readonly key: CryptoKey | TokenKey;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** RSASSA-PSS as PS256 has it (RFC 7518 §3.5). */
export const PS256 = { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 } as const;
/** RSAES-OAEP as RSA-OAEP-256 has it (RFC 7518 §4.3). */
export const RSA_OAEP_256 = { name: "RSA-OAEP", hash: "SHA-256" } as const;

/** Returns a PS256 signature. */
export async function signWith(key: OwnKey["key"], input: Bytes): Promise<Bytes> {
  if ("sign" in key) return await key.sign(input);
  return new Uint8Array(await crypto.subtle.sign(PS256, key, input));
}

/** Returns what RSA-OAEP-256 has encrypted, or undefined for bytes that the key cannot decrypt. */
export async function decryptWith(key: OwnKey["key"], encrypted: Bytes): Promise<Bytes | undefined> {
  if ("decrypt" in key) return await key.decrypt(encrypted);
  try {
    return new Uint8Array(await crypto.subtle.decrypt(RSA_OAEP_256, key, encrypted));
  } catch {
    return undefined;
  }
}

// Signs a JWT with PS256, a `typ` and a kid, as all parts of this ecosystem do.

/** Returns a compact JWT with exactly these claims. The caller sets the times. */
export async function signClaims(claims: JsonObject, signer: OwnKey, typ = "JWT"): Promise<string> {
  const { kid, key } = signer;
  const payload = new TextEncoder().encode(JSON.stringify(claims));
  const signed = await signJws({ alg: SIGNATURE_ALG, typ, kid }, base64url(payload), key);
  return `${signed.header}.${base64url(payload)}.${signed.signature}`;
}

/**
 * Signs a JWS (RFC 7515 §5.1).
 *
 * @param payload as it is signed: base64url, or the bytes themselves with `b64: false` (RFC 7797 §3)
 */
export async function signJws(
  header: JsonObject,
  payload: string | Uint8Array,
  key: OwnKey["key"],
): Promise<{ readonly header: string; readonly signature: string }> {
  const utf8 = new TextEncoder();
  const protectedHeader = base64url(utf8.encode(JSON.stringify(header)));
  const start = utf8.encode(`${protectedHeader}.`);
  const end = typeof payload === "string" ? utf8.encode(payload) : payload;
  const input = new Uint8Array(start.length + end.length);
  input.set(start);
  input.set(end, start.length);
  return { header: protectedHeader, signature: base64url(await signWith(key, input)) };
}
