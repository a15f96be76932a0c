/**
 * The platform's keys for the sandbox in the format of `PLATFORM_KEYS`: a private JWK set with a signing key, certified
 * by the sandbox's authority, and a decryption key (Decision A11). Marked as sandbox keys, so that a production
 * platform rejects them.
 */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { calculateJwkThumbprint } from "jose";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../../client/party/profile.ts";
import { type Authority, issueCertificate } from "./authority.ts";
import { asJson, readIfAny, type SandboxFiles, writeSecret } from "./sandbox_files.ts";

const certificateDays = 3650;

/**
 * The platform's private JWK set as JSON, created at the first start.
 * @param makeKeys creates a key pair; called only if no key set exists
 */
export async function platformKeySet(
  files: SandboxFiles,
  authority: Authority,
  makeKeys: () => Promise<CryptoKeyPair>,
  now: number,
): Promise<string> {
  const kept = await readIfAny(files.platformKeys);
  if (kept !== undefined) return kept;
  const json = keySetJson(await newPlatformKeys(authority, makeKeys, now));
  await writeSecret(files.platformKeys, json);
  return json;
}

/** Makes a signing key and a decryption key. */
export async function newPlatformKeys(
  authority: Authority,
  makeKeys: () => Promise<CryptoKeyPair>,
  now: number,
): Promise<readonly JsonWebKey[]> {
  const [signing, encryption] = await Promise.all([makeKeys(), makeKeys()]);
  return await Promise.all([signingJwk(authority, signing, now), encryptionJwk(encryption)]);
}

/** The text of `PLATFORM_KEYS`. */
export function keySetJson(keys: readonly JsonWebKey[]): string {
  return asJson({ environment: "sandbox", keys });
}

async function signingJwk(authority: Authority, pair: CryptoKeyPair, now: number): Promise<JsonWebKey> {
  const certificate = await issueCertificate(authority, {
    commonName: "Payment Initiation Platform signing",
    publicKey: pair.publicKey,
    validDays: certificateDays,
    extensions: [new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true)],
  }, now);
  const der = certificate.rawData;
  const x5t = await digest("SHA-1", der);
  const named = {
    kid: x5t,
    x5t,
    "x5t#S256": await digest("SHA-256", der),
    x5c: [new Uint8Array(der).toBase64()],
  };
  return { ...await rsaMembers(pair.privateKey), use: "sig", alg: SIGNATURE_ALG, ...named };
}

async function encryptionJwk(pair: CryptoKeyPair): Promise<JsonWebKey> {
  const members = await rsaMembers(pair.privateKey);
  const kid = await calculateJwkThumbprint({ kty: "RSA", n: members.n ?? "", e: members.e ?? "" });
  const named = { kid };
  return { ...members, use: "enc", alg: KEY_MANAGEMENT_ALG, ...named };
}

async function rsaMembers(key: CryptoKey): Promise<JsonWebKey> {
  const { alg: _alg, key_ops: _keyOps, ext: _ext, ...members } = await crypto.subtle.exportKey("jwk", key);
  return members;
}

async function digest(algorithm: "SHA-1" | "SHA-256", bytes: BufferSource): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest(algorithm, bytes));
  return hash.toBase64({ alphabet: "base64url", omitPadding: true });
}
