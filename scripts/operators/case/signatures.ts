/** Verification of the signatures of a bundle: PS256 alone (RFC 7518 §3.5), compact or detached (RFC 7797). */
import { createHash } from "node:crypto";
import type { Key } from "./bundle_schema.ts";

type Header = { readonly [name: string]: unknown };

const PS256 = { name: "RSA-PSS", hash: "SHA-256" };
const SALT_BYTES = 32;

/** Returns the bytes of base64url text, or undefined if it is not the only way to write them. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    return base64url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Returns base64url without padding. */
export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Returns the SHA-256 of the parts, one after the other. */
export function digestOf(...parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

/** Returns the payload of a compact JWS whose signature verifies with the key, or undefined. */
export async function openJws(
  jws: string,
  key: Key,
  typ?: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const [head = "", payload = "", signature = "", ...more] = jws.split(".");
  const header = headerOf(head);
  if (more.length > 0 || header === undefined || (typ !== undefined && header["typ"] !== typ)) {
    return undefined;
  }
  const bytes = bytesOf(payload);
  return await isSigned(key, [`${head}.${payload}`], signature) ? bytes : undefined;
}

/** Returns whether a detached JWS over the bytes verifies with the key. */
export async function isDetachedJws(jws: string, bytes: Uint8Array<ArrayBuffer>, key: Key): Promise<boolean> {
  const [head = "", empty, signature = "", ...more] = jws.split(".");
  const header = headerOf(head);
  if (more.length > 0 || empty !== "" || header === undefined) return false;
  return await isSigned(key, [`${head}.`, header["b64"] === false ? bytes : base64url(bytes)], signature);
}

/** Returns the kid in the header of a JWS. */
export function kidOf(jws: string): unknown {
  return headerOf(jws.slice(0, jws.indexOf(".")))?.["kid"];
}

/** Returns the header of a JWS with PS256, from its first segment. */
export function headerOf(segment: string): Header | undefined {
  const bytes = bytesOf(segment);
  const header = bytes === undefined ? undefined : jsonIn(bytes);
  if (typeof header !== "object" || header === null || Reflect.get(header, "alg") !== "PS256") {
    return undefined;
  }
  return header as Header;
}

/** Returns the JSON value in UTF-8 bytes, or undefined. */
export function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

async function isSigned(
  key: Key,
  parts: readonly (string | Uint8Array<ArrayBuffer>)[],
  signature: string,
): Promise<boolean> {
  const bytes = bytesOf(signature);
  if (bytes === undefined) return false;
  const { kty, n, e } = key;
  const imported = await crypto.subtle.importKey("jwk", { kty, n, e }, PS256, false, ["verify"]).catch(() =>
    null
  );
  if (imported === null) return false;
  const signed = new Uint8Array(await new Blob([...parts]).arrayBuffer());
  return await crypto.subtle.verify({ ...PS256, saltLength: SALT_BYTES }, imported, bytes, signed);
}
