/**
 * The certificates of web servers in tests of real TLS: an authority of its own (pool keys 10 and 11), so that trust
 * in servers and trust in participants are two things. Also issues odd client certificates from any authority.
 */
import { isIP } from "node:net";
import "reflect-metadata";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { privatePem } from "./directory_environment.ts";
import { type TestKey, testKey } from "./keys.ts";

/** A certificate with its key, PEM. */
export interface TlsIdentity {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

const ALGORITHM = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const DAY_MS = 86_400_000;

/** The authority of web servers. */
export async function webAuthority(): Promise<TlsIdentity> {
  return await selfSignedAuthority("CN=Web authority", await testKey(10));
}

/** An authority of any name and key. */
export async function selfSignedAuthority(name: string, key: TestKey): Promise<TlsIdentity> {
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name,
    keys: { privateKey: await privateOf(key), publicKey: await publicOf(key) },
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 30 * DAY_MS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return { certificatePem: certificate.toString("pem"), privateKeyPem: await privatePem(key) };
}

/** A server's identity for these host names. */
export async function serverIdentity(hosts: readonly string[]): Promise<TlsIdentity> {
  return await issue(await webAuthority(), await testKey(10), await testKey(11), {
    subject: `CN=${hosts[0]}`,
    extensions: [
      new SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: isIP(value) === 0 ? "dns" as const : "ip" as const, value })),
      ),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    ],
  });
}

/** The certificate to issue; by default valid from yesterday for thirty days. */
export interface CertificateOrder {
  readonly subject: string;
  readonly extensions?: readonly Extension[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** A certificate for `key` by an authority whose key is `authorityKey`. */
export async function issue(
  authority: Pick<TlsIdentity, "certificatePem">,
  authorityKey: TestKey,
  key: TestKey,
  order: CertificateOrder,
): Promise<TlsIdentity> {
  const certificate = await X509CertificateGenerator.create({
    subject: order.subject,
    issuer: new X509Certificate(authority.certificatePem).subject,
    publicKey: await publicOf(key),
    signingKey: await privateOf(authorityKey),
    notBefore: order.notBefore ?? new Date(Date.now() - DAY_MS),
    notAfter: order.notAfter ?? new Date(Date.now() + 30 * DAY_MS),
    signingAlgorithm: ALGORITHM,
    extensions: [...order.extensions ?? []],
  });
  return { certificatePem: certificate.toString("pem"), privateKeyPem: await privatePem(key) };
}

/** PEM of a DER certificate in base64. */
export function certificatePem(base64: string): string {
  const lines = base64.match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

function privateOf(key: TestKey): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", { ...key.privateJwk }, ALGORITHM, false, ["sign"]);
}

function publicOf(key: TestKey): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", { ...key.publicJwk }, ALGORITHM, true, ["verify"]);
}
