/**
 * JWS and JWE made by hand with WebCrypto, so that a test controls exactly which bytes are signed: any header text, any
 * payload, any salt. Independent of the code under test.
 */

/** The content of a segment: exact bytes, exact text, or a value to be written as JSON. */
export type Part = Uint8Array | string | object;

/** The bytes of a part. */
export function bytesOf(part: Part): Uint8Array<ArrayBuffer> {
  if (part instanceof Uint8Array) return new Uint8Array(part);
  return new TextEncoder().encode(typeof part === "string" ? part : JSON.stringify(part));
}

/** A part as a base64url segment. */
export function segment(part: Part): string {
  return bytesOf(part).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Concatenates bytes. */
export function concat(...parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...bytesOf(part)]));
}

/** PS256 over the signing input. */
export async function ps256(key: CryptoKey, input: Part): Promise<string> {
  const signature = await crypto.subtle.sign({ name: "RSA-PSS", saltLength: 32 }, key, bytesOf(input));
  return segment(new Uint8Array(signature));
}

/** A compact JWS over exactly this header and payload. */
export async function rawJws(key: CryptoKey, header: Part, payload: Part): Promise<string> {
  const input = `${segment(header)}.${segment(payload)}`;
  return `${input}.${await ps256(key, input)}`;
}

/** The private JWK's key for an algorithm or hash other than PS256. */
export function importPrivate(jwk: object, algorithm: RsaHashedImportParams): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", { ...jwk }, algorithm, false, ["sign"]);
}

/** The parts of a compact JWE that a test may choose. */
export interface JweParts {
  readonly header: Part;
  readonly plaintext: Part;
  readonly to: CryptoKey;
  /** Replaces the random A256GCM key. */
  readonly contentKey?: Uint8Array<ArrayBuffer>;
}

/** A compact JWE (RSA-OAEP to `to`, AES-GCM) over exactly this protected header and plaintext. */
export async function rawJwe({ header, plaintext, to, contentKey }: JweParts): Promise<string> {
  const content = contentKey ?? crypto.getRandomValues(new Uint8Array(32));
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const aes = await crypto.subtle.importKey("raw", content, "AES-GCM", false, ["encrypt"]);
  const additionalData = new TextEncoder().encode(segment(header));
  const sealed = new Uint8Array(
    await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData }, aes, bytesOf(plaintext)),
  );
  const encryptedKey = new Uint8Array(await crypto.subtle.encrypt({ name: "RSA-OAEP" }, to, content));
  return [header, encryptedKey, iv, sealed.slice(0, -16), sealed.slice(-16)].map(segment).join(".");
}

/** Another encoding of the same bytes: the last character's unused bits are set. */
export function strayBits(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  if (text.length % 4 === 0) throw new Error("this segment has no unused bits");
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.slice(-1)) + 1];
}

/** SHA-256 as lower-case hex, as the published vectors write it. */
export async function sha256Hex(part: Part): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOf(part))).toHex();
}
