/** Signs a JWT with PS256, a `typ` and a kid, as all parts of this ecosystem do. */
import { base64url } from "../kernel/identifiers.ts";
import { SIGNATURE_ALG } from "../limits.ts";
import type { JsonObject } from "./compact_jws.ts";
import { type OwnKey, signWith } from "./own_key.ts";

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
