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
import { certificateMembers, type Judging, type StoredKey } from "./file.ts";

const DAY_MS = 86_400_000;
/** Others' clocks may be behind. */
const BACKDATED_MS = 300_000;

/** What signs certificates and requests. */
export interface Certifier {
  readonly keys: CryptoKeyPair;
  readonly signingAlgorithm: { readonly name: string; readonly hash: string; readonly saltLength?: number };
  readonly crypto: Crypto;
}

/** Where the private keys are: in the file, or in a token. */
export interface Custody extends Pick<Judging, "tokenOf"> {
  /** Makes a key. Returns the members that the file has of it. */
  make(use: KeyUse, bits: number): Promise<RsaMembers>;
  certifier(key: RsaMembers): Promise<Certifier>;
  /** Returns what the operator should know of a new file. */
  afterMake(file: string): string;
}

type RsaMembers = Pick<StoredKey, "kty" | "n" | "e" | "d" | "p" | "q" | "dp" | "dq" | "qi">;

const ALGORITHM = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** The file has the private keys. */
export const IN_FILE: Custody = {
  make: (_use, bits) => makePrivateJwk(bits),
  async certifier({ kty, n, e, d = "", p = "", q = "", dp = "", dq = "", qi = "" }) {
    const [privateKey, publicKey] = await Promise.all([
      crypto.subtle.importKey("jwk", { kty, n, e, d, p, q, dp, dq, qi }, ALGORITHM, false, ["sign"]),
      crypto.subtle.importKey("jwk", { kty, n, e }, ALGORITHM, true, ["verify"]),
    ]);
    return { keys: { privateKey, publicKey }, signingAlgorithm: ALGORITHM, crypto };
  },
  afterMake: (file) => `${file} holds the platform's private keys: keep it secret and keep a copy.`,
};

/** A new key; a signing key comes with a certificate that it signed itself. `now` in milliseconds. */
export async function makeKey(
  use: KeyUse,
  making: Making,
  { now, custody }: { readonly now: number; readonly custody: Custody },
): Promise<StoredKey> {
  const jwk = await custody.make(use, making.bits);
  if (use === "enc") {
    return { ...jwk, use, kid: await calculateJwkThumbprint({ kty: jwk.kty, n: jwk.n, e: jwk.e }) };
  }
  const { keys, signingAlgorithm, crypto } = await custody.certifier(jwk);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [making.name] }],
    keys,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now + making.days * DAY_MS),
    signingAlgorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  }, crypto);
  return { ...jwk, use, ...await certificateMembers([new Uint8Array(certificate.rawData).toBase64()]) };
}

/** A PEM signing request (PKCS 10) for a key, for an authority of the operator's choice. */
export async function signingRequest(key: StoredKey, name: string, custody: Custody): Promise<string> {
  const { keys, signingAlgorithm, crypto } = await custody.certifier(key);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm,
    extensions: [new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true)],
  }, crypto);
  return request.toString("pem");
}
