/**
 * RSA and AES-GCM as they are, and slow. Without the thread pool of `crypto.subtle`, so that the order of events depends
 * on the seed alone. Random bytes of signatures differ between two runs of a seed.
 */
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  sign,
  verify,
} from "node:crypto";
import { concat } from "../../testing/raw_jws.ts";
import { primitives, TAG_BYTES } from "./fast_crypto.ts";

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
const OAEP = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" };

const privateKeys = new Map<string, KeyObject>();
const publicKeys = new Map<string, KeyObject>();

function modulusOf(_name: string): string {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { n = "" } = publicKey.export({ format: "jwk" });
  privateKeys.set(n, privateKey);
  publicKeys.set(n, publicKey);
  return n;
}

/** The forger has no modulus, and gets another key. */
function privateKeyOf(modulus: string): KeyObject {
  const known = privateKeys.get(modulus) ?? privateKeyOf(modulusOf(modulus));
  privateKeys.set(modulus, known);
  return known;
}

function publicKeyOf(modulus: string): KeyObject {
  const known = publicKeys.get(modulus) ??
    createPublicKey({ key: { kty: "RSA", n: modulus, e: "AQAB" }, format: "jwk" });
  publicKeys.set(modulus, known);
  return known;
}

function keyBytes(material: string): Uint8Array {
  return Uint8Array.fromBase64(material, { alphabet: "base64url" });
}

primitives.current = {
  name: "real",
  modulusOf,
  sign: (modulus, data) => new Uint8Array(sign("sha256", data, { key: privateKeyOf(modulus), ...PSS })),
  verify: (modulus, data, signature) =>
    verify("sha256", data, { key: publicKeyOf(modulus), ...PSS }, signature),
  wrap: (modulus, data) => new Uint8Array(publicEncrypt({ key: publicKeyOf(modulus), ...OAEP }, data)),
  unwrap: (modulus, data) => new Uint8Array(privateDecrypt({ key: privateKeyOf(modulus), ...OAEP }, data)),
  encrypt(material, iv, data, extra) {
    const cipher = createCipheriv("aes-256-gcm", keyBytes(material), iv);
    cipher.setAAD(extra);
    return concat(cipher.update(data), cipher.final(), cipher.getAuthTag());
  },
  decrypt(material, iv, data, extra) {
    const decipher = createDecipheriv("aes-256-gcm", keyBytes(material), iv);
    decipher.setAAD(extra);
    decipher.setAuthTag(data.subarray(-TAG_BYTES));
    const opened = decipher.update(data.subarray(0, -TAG_BYTES));
    try {
      return concat(opened, decipher.final());
    } catch {
      throw new DOMException("Decryption failed", "OperationError");
    }
  },
};
