/** All keys of a sandbox, created in parallel because this takes most of the time of a first start. */
import "reflect-metadata";
import { calculateJwkThumbprint } from "jose";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../../client/party/profile.ts";
import * as x509 from "@peculiar/x509";
import {
  type Authority,
  issueCertificate,
  openAuthority,
  type ServerIdentity,
  serverIdentity,
} from "./authority.ts";
import { keyPairAt, type MakeKeyPair, makeKeyPair } from "./key_files.ts";
import { type ParticipantKeys, participantKeys } from "./onboarding.ts";
import type { ParticipantPlan } from "./participants_plan.ts";
import { asJson, readIfAny, type SandboxFiles, writeSecret } from "./sandbox_files.ts";
import type { Site } from "./site.ts";

/** The keys and certificates that are needed before any part starts. */
export interface SiteKeys {
  readonly authority: Authority;
  /** The front door's TLS certificate. */
  readonly server: ServerIdentity;
  /** Signs software statements. */
  readonly directory: CryptoKeyPair;
  /** Private JWK set as JSON. */
  readonly platform: string;
  /** Text of `PLATFORM_WRAPPING_KEYS`. */
  readonly wrapping: string;
  /** Participants to be onboarded; empty if that is done. */
  readonly newcomers: readonly { readonly plan: ParticipantPlan; readonly keys: ParticipantKeys }[];
}

/** Creates missing keys and reads the others. */
export async function openSiteKeys(
  { files }: Site,
  newcomers: readonly ParticipantPlan[],
  now: number,
  makeKeys: MakeKeyPair = makeKeyPair,
): Promise<SiteKeys> {
  const opening = openAuthority(files, now, makeKeys);
  const serverKeys = keyPairAt(files.serverKey, makeKeys);
  const [authority, server, directory, platform, wrapping, withKeys] = await Promise.all([
    opening,
    serverKeys.then(async (keys) => await serverIdentity(files, keys, await opening, now)),
    keyPairAt(files.directoryKey, makeKeys),
    opening.then((authority) => platformKeySet(files, authority, makeKeys, now)),
    wrappingKeys(files),
    Promise.all(
      newcomers.map(async (plan) => ({ plan, keys: await participantKeys(files, plan, makeKeys) })),
    ),
  ]);
  return { authority, server, directory, platform, wrapping, newcomers: withKeys };
}

async function wrappingKeys(files: SandboxFiles): Promise<string> {
  const kept = await readIfAny(files.wrappingKeys);
  if (kept !== undefined) return kept;
  const line = `sandbox ${crypto.getRandomValues(new Uint8Array(32)).toBase64()}\n`;
  await writeSecret(files.wrappingKeys, line);
  return line;
}

const certificateDays = 3650;

/**
 * The platform's keys in the format of `PLATFORM_KEYS`, created at the first start: a private JWK set with a signing key,
 * certified by the sandbox's authority, and a decryption key (Decision A11). Marked as sandbox keys, so that a production
 * platform rejects them.
 *
 * @param makeKeys creates a key pair; called only if no key set exists
 */
async function platformKeySet(
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
