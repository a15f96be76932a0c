/** JWTs as the simulated parties make and read them: synchronous, with the cryptography of the simulation. */
import { hashOf, primitives, TAG_BYTES } from "./fast_crypto.ts";

/** Members of a JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** A key with the name it is published under. */
export interface NamedModulus {
  readonly kid: string;
  /** base64url. */
  readonly n: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** base64url without padding. */
export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** SHA-256 of text, base64url. */
export function digestOf(text: string): string {
  return base64url(hashOf(text));
}

/** The public JWK of a modulus. */
export function publicJwk(n: string): { readonly kty: "RSA"; readonly n: string; readonly e: string } {
  return { kty: "RSA", n, e: "AQAB" };
}

/** A compact JWS. */
export function signedJwt(n: string, header: Json, claims: Json): string {
  const input = `${jsonSegment({ alg: "PS256", ...header })}.${jsonSegment(claims)}`;
  return `${input}.${base64url(primitives.current.sign(n, encoder.encode(input)))}`;
}

/** A detached JWS over body bytes (`x-jws-signature`). */
export function detachedSignature({ kid, n }: NamedModulus, claims: Json, body: string): string {
  const header = jsonSegment({ alg: "PS256", kid, ...claims, crit: Object.keys(claims) });
  const input = `${header}.${base64url(encoder.encode(body))}`;
  return `${header}..${base64url(primitives.current.sign(n, encoder.encode(input)))}`;
}

/** A JWT signed and then encrypted to a recipient. `fresh` gives random bytes. */
export function sealedJwt(
  signer: NamedModulus,
  recipient: NamedModulus,
  claims: Json,
  fresh: (length: number) => Uint8Array,
): string {
  const jws = signedJwt(signer.n, { typ: "JWT", kid: signer.kid }, claims);
  const header = jsonSegment({ alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid: recipient.kid });
  const [key, iv] = [fresh(32), fresh(12)];
  const sealed = primitives.current.encrypt(base64url(key), iv, encoder.encode(jws), encoder.encode(header));
  const parts = [
    primitives.current.wrap(recipient.n, key),
    iv,
    sealed.subarray(0, -TAG_BYTES),
    sealed.subarray(-TAG_BYTES),
  ];
  return [header, ...parts.map(base64url)].join(".");
}

/** The claims of a JWT that was sealed to one of these keys. @throws {Error} if none opens it */
export function openedClaims(token: string, keys: readonly NamedModulus[]): Json {
  const [header = "", key = "", iv = "", body = "", tag = ""] = token.split(".");
  const { kid } = headerOf(token);
  const own = keys.find((candidate) => candidate.kid === kid);
  if (own === undefined) throw new Error(`sealed to ${kid}, which is none of the recipient's keys`);
  const content = base64url(primitives.current.unwrap(own.n, fromBase64url(key)));
  const sealed = new Uint8Array([...fromBase64url(body), ...fromBase64url(tag)]);
  const opened = primitives.current.decrypt(content, fromBase64url(iv), sealed, encoder.encode(header));
  return claimsOf(decoder.decode(opened));
}

/** The claims of a compact JWS, unverified. */
export function claimsOf(jws: string): Json {
  return JSON.parse(decoder.decode(fromBase64url(jws.split(".")[1] ?? ""))) as Json;
}

/** The header of a compact JWS or JWE, unverified. */
export function headerOf(jws: string): Json {
  return JSON.parse(decoder.decode(fromBase64url(jws.split(".")[0] ?? ""))) as Json;
}

/** The token with another signature: what a forger without the key can make of it. */
export function forged(jws: string): string {
  const signed = jws.slice(0, jws.lastIndexOf("."));
  return `${signed}.${base64url(primitives.current.sign("forger", encoder.encode(signed)))}`;
}

function jsonSegment(value: Json): string {
  return base64url(encoder.encode(JSON.stringify(value)));
}

function fromBase64url(text: string): Uint8Array {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
