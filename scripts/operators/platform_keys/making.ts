/** Creates keys of the platform, their certificates and signing requests. Accesses no files. */
import "reflect-metadata";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { calculateJwkThumbprint } from "jose";
import { makePrivateJwk } from "../../testing/generate_keys.ts";
import type { KeyUse, Making } from "./arguments.ts";
import { certificateMembers, type StoredKey } from "./file.ts";

const ALGORITHM = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const DAY_MS = 86_400_000;
/** Others' clocks may be behind. */
const BACKDATED_MS = 300_000;

/** A new key; a signing key comes with a certificate that it signed itself. `now` in milliseconds. */
export async function makeKey(use: KeyUse, making: Making, now: number): Promise<StoredKey> {
  const jwk = await makePrivateJwk(making.bits);
  if (use === "enc") {
    return { ...jwk, use, kid: await calculateJwkThumbprint({ kty: jwk.kty, n: jwk.n, e: jwk.e }) };
  }
  const keys = await pairOf(jwk);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [making.name] }],
    keys,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now + making.days * DAY_MS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { ...jwk, use, ...await certificateMembers([new Uint8Array(certificate.rawData).toBase64()]) };
}

/** A PEM signing request (PKCS 10) for a key, for an authority of the operator's choice. */
export async function signingRequest(key: StoredKey, name: string): Promise<string> {
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name] }],
    keys: await pairOf(key),
    signingAlgorithm: ALGORITHM,
    extensions: [new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true)],
  });
  return request.toString("pem");
}

type RsaMembers = Pick<StoredKey, "kty" | "n" | "e" | "d" | "p" | "q" | "dp" | "dq" | "qi">;

async function pairOf({ kty, n, e, d, p, q, dp, dq, qi }: RsaMembers): Promise<CryptoKeyPair> {
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey("jwk", { kty, n, e, d, p, q, dp, dq, qi }, ALGORITHM, false, ["sign"]),
    crypto.subtle.importKey("jwk", { kty, n, e }, ALGORITHM, true, ["verify"]),
  ]);
  return { privateKey, publicKey };
}
