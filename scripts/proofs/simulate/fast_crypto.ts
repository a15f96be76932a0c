/**
 * Cryptography of the simulation: deterministic, synchronous, cheap and worthless. A signature is a checksum keyed with
 * the public modulus, which the simulated parties alone do not forge. It replaces `crypto.subtle`, whose thread pool would
 * finish in another order each time. Formats (JWS, JWE, X.509, thumbprints) and SHA-256 stay the real ones.
 */
import { createHash } from "node:crypto";
import { spkiOf } from "./certificates.ts";

/** A key of the simulation; jose and the platform take it for a `CryptoKey`. */
interface SimulatedKey extends CryptoKey {
  readonly [Symbol.toStringTag]: "CryptoKey";
  /** Modulus, base64url, or the bytes of a symmetric key. */
  readonly material: string;
}

type Algorithm = string | { readonly name: string; readonly [member: string]: unknown };
type Bytes = ArrayBuffer | ArrayBufferView;

/** What a key with this modulus (base64url), or with these bytes, does. */
export interface Primitives {
  readonly name: "fast" | "real";
  /** Returns the modulus of a named key. */
  modulusOf(name: string): string;
  /** PS256. */
  sign(modulus: string, data: Uint8Array): Uint8Array<ArrayBuffer>;
  verify(modulus: string, data: Uint8Array, signature: Uint8Array): boolean;
  /** RSA-OAEP. */
  wrap(modulus: string, data: Uint8Array): Uint8Array<ArrayBuffer>;
  unwrap(modulus: string, data: Uint8Array): Uint8Array<ArrayBuffer>;
  /** AES-GCM, with the tag at the end. */
  encrypt: Crypt;
  /** @throws {DOMException} if a byte was changed */
  decrypt: Crypt;
}

type Crypt = (
  material: string,
  iv: Uint8Array,
  data: Uint8Array,
  extra: Uint8Array,
) => Uint8Array<ArrayBuffer>;

const HASH: Readonly<Record<string, string>> = { "SHA-1": "sha1", "SHA-256": "sha256", "SHA-512": "sha512" };
const SIGNATURE_BYTES = 256;
export const TAG_BYTES = 16;
const CHECKSUM_BYTES = 8;

/** SHA-256 of text or bytes. */
export function hashOf(data: string | Uint8Array, name = "sha256"): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash(name).update(data).digest());
}

function modulusOf(name: string): string {
  const octets = new Uint8Array(SIGNATURE_BYTES);
  for (let part = 0; part < 8; part++) octets.set(hashOf(`${name} ${part}`), part * 32);
  octets[0] = (octets[0] ?? 0) | 0x80;
  octets[255] = (octets[255] ?? 0) | 0x01;
  return octets.toBase64({ alphabet: "base64url", omitPadding: true });
}

function signatureOf(modulus: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const signature = new Uint8Array(SIGNATURE_BYTES);
  signature.set(checksumOf(modulus, data));
  return signature;
}

/** 64 bits that depend on the key and on each byte of the parts and its place: two FNV-1a with a rotation. */
function checksumOf(material: string, ...parts: readonly Uint8Array[]): Uint8Array {
  let a = 0x811c9dc5;
  let b = 0x01234567;
  for (let index = 0; index < material.length; index++) {
    a = Math.imul(a ^ material.charCodeAt(index), 0x01000193);
    b = Math.imul((b << 13 | b >>> 19) ^ a, 0x85ebca6b);
  }
  for (const part of parts) {
    a ^= part.length; // a byte cannot move to the part before
    for (let index = 0; index < part.length; index++) {
      const octet = part[index] ?? 0;
      a = Math.imul(a ^ octet, 0x01000193);
      b = Math.imul((b << 13 | b >>> 19) ^ a, 0x85ebca6b);
    }
  }
  const checksum = new DataView(new ArrayBuffer(CHECKSUM_BYTES));
  checksum.setInt32(0, a);
  checksum.setInt32(4, b);
  return new Uint8Array(checksum.buffer);
}

/** Bytes under a key: XOR with a checksum of its IV. Its own inverse. */
function maskBytes(material: string, iv: Uint8Array, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(data);
  const seed = checksumOf(material, iv);
  for (let index = 0; index < result.length; index++) {
    result[index] = (result[index] ?? 0) ^ (seed[index % CHECKSUM_BYTES] ?? 0);
  }
  return result;
}

function wrapBytes(modulus: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(SIGNATURE_BYTES);
  result.set(maskBytes(modulus, new Uint8Array(), data));
  result[SIGNATURE_BYTES - 1] = data.length;
  return result;
}

/** Reverses {@link wrapBytes}. */
function unwrapBytes(modulus: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  return maskBytes(modulus, new Uint8Array(), data.subarray(0, data[SIGNATURE_BYTES - 1]));
}

/** The masked bytes and a tag over them. */
function encryptBytes(
  material: string,
  iv: Uint8Array,
  data: Uint8Array,
  extra: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const body = maskBytes(material, iv, data);
  const result = new Uint8Array(body.length + TAG_BYTES);
  result.set(body);
  result.set(tagOf(material, iv, body, extra), body.length);
  return result;
}

/** Reverses {@link encryptBytes}. @throws {DOMException} if a byte was changed */
function decryptBytes(
  material: string,
  iv: Uint8Array,
  data: Uint8Array,
  extra: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const body = data.subarray(0, data.length - TAG_BYTES);
  if (!sameBytes(tagOf(material, iv, body, extra), data.subarray(body.length))) {
    throw new DOMException("Decryption failed", "OperationError");
  }
  return maskBytes(material, iv, body);
}

function tagOf(material: string, iv: Uint8Array, body: Uint8Array, extra: Uint8Array): Uint8Array {
  const tag = new Uint8Array(TAG_BYTES);
  tag.set(checksumOf(material, iv, extra, body));
  return tag;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

/** Those in use. A profile sets others before the parties have their keys. */
export const primitives: { current: Primitives } = {
  current: {
    name: "fast",
    modulusOf,
    sign: signatureOf,
    verify: (modulus, data, signature) => sameBytes(signatureOf(modulus, data), signature),
    wrap: wrapBytes,
    unwrap: unwrapBytes,
    encrypt: encryptBytes,
    decrypt: decryptBytes,
  },
};

function bytesOf(data: Bytes): Uint8Array {
  return data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function nameOf(algorithm: Algorithm): string {
  return typeof algorithm === "string" ? algorithm : algorithm.name;
}

function importKey(
  format: string,
  data: JsonWebKey | Bytes,
  algorithm: Algorithm,
  extractable: boolean,
  usages: KeyUsage[],
): Promise<CryptoKey> {
  const isJwk = format === "jwk";
  const jwk = data as JsonWebKey;
  const material = isJwk
    ? jwk.n ?? ""
    : bytesOf(data as Bytes).toBase64({ alphabet: "base64url", omitPadding: true });
  const hash = { name: "SHA-256" };
  const key: SimulatedKey = {
    [Symbol.toStringTag]: "CryptoKey",
    type: isJwk ? (jwk.d === undefined ? "public" : "private") : "secret",
    extractable,
    usages,
    algorithm: isJwk
      ? { name: nameOf(algorithm), hash, modulusLength: 2048 } as KeyAlgorithm
      : { name: nameOf(algorithm), length: bytesOf(data as Bytes).length * 8 } as KeyAlgorithm,
    material,
  };
  return Promise.resolve(key);
}

const materialOf = (key: CryptoKey): string => (key as SimulatedKey).material;

interface GcmParameters {
  readonly iv?: Bytes;
  readonly additionalData?: Bytes;
}

type SubtleCrypt = (algorithm: Algorithm, key: CryptoKey, data: Bytes) => Promise<ArrayBuffer>;

function crypt(direction: "encrypt" | "decrypt"): SubtleCrypt {
  // deno-lint-ignore require-await -- an error of the simulation must be a rejected promise, as WebCrypto's are
  return async (algorithm, key, data) => {
    const material = materialOf(key);
    const { iv, additionalData } = algorithm as GcmParameters;
    if (nameOf(algorithm) === "RSA-OAEP") {
      return primitives.current[direction === "encrypt" ? "wrap" : "unwrap"](material, bytesOf(data)).buffer;
    }
    const run = primitives.current[direction];
    const empty = new Uint8Array();
    const extra = additionalData === undefined ? empty : bytesOf(additionalData);
    return run(material, iv === undefined ? empty : bytesOf(iv), bytesOf(data), extra).buffer;
  };
}

/** In place of `crypto.subtle`: what the platform, jose and the simulated parties use of it. */
export const fastSubtle = {
  digest: (algorithm: Algorithm, data: Bytes): Promise<ArrayBuffer> =>
    Promise.resolve(hashOf(bytesOf(data), HASH[nameOf(algorithm)]).buffer),
  importKey,
  exportKey: (_format: "spki", key: CryptoKey): Promise<ArrayBuffer> =>
    Promise.resolve(spkiOf(materialOf(key)).buffer),
  sign: (_algorithm: Algorithm, key: CryptoKey, data: Bytes): Promise<ArrayBuffer> =>
    Promise.resolve(primitives.current.sign(materialOf(key), bytesOf(data)).buffer),
  verify: (_algorithm: Algorithm, key: CryptoKey, signature: Bytes, data: Bytes): Promise<boolean> =>
    Promise.resolve(primitives.current.verify(materialOf(key), bytesOf(data), bytesOf(signature))),
  encrypt: crypt("encrypt"),
  decrypt: crypt("decrypt"),
};
