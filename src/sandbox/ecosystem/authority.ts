/**
 * The sandbox's certificate authority. Its root issues the TLS certificate of the front door, the platform's signing
 * certificate and (through the directory) every participant's certificates, so that clients need to trust only
 * `ca.pem`.
 */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { KEY_ALGORITHM, keyPairAt, type MakeKeyPair, privateKeyPem } from "./key_files.ts";
import { readIfAny, type SandboxFiles, writePublic } from "./sandbox_files.ts";

/** A certificate authority that can issue certificates. */
export interface Authority {
  readonly certificate: x509.X509Certificate;
  readonly certificatePem: string;
  readonly privateKey: CryptoKey;
  readonly privateKeyPem: string;
}

/** A certificate with its key, as PEM. */
export interface ServerIdentity {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** The subject, key and extensions of a certificate to issue. */
export interface CertificateOrder {
  readonly commonName: string;
  readonly publicKey: CryptoKey;
  readonly validDays: number;
  readonly extensions: readonly x509.Extension[];
}

const dayMs = 86_400_000;
const caDays = 3650;
const serverDays = 90;
/** A server certificate with less time left is replaced at the next start. */
const renewServerBelowDays = 30;
/** Clocks of clients may be behind. */
const backdatedMs = 300_000;

/** Opens a sandbox's authority; the first start creates it. */
export async function openAuthority(
  files: SandboxFiles,
  now: number,
  makeKeys?: MakeKeyPair,
): Promise<Authority> {
  const keys = await keyPairAt(files.caKey, makeKeys);
  const certificatePem = await readIfAny(files.caCertificate) ?? await found(files, keys, now);
  return {
    certificate: new x509.X509Certificate(certificatePem),
    certificatePem,
    privateKey: keys.privateKey,
    privateKeyPem: await privateKeyPem(keys.privateKey),
  };
}

/** The TLS certificate for `localhost`, renewed 30 days before it expires. */
export async function serverIdentity(
  files: SandboxFiles,
  keys: CryptoKeyPair,
  authority: Authority,
  now: number,
): Promise<ServerIdentity> {
  const kept = await readIfAny(files.serverCertificate);
  const certificatePem =
    kept !== undefined && isGoodUntil(kept, authority, now + renewServerBelowDays * dayMs)
      ? kept
      : await certifyServer(files, keys, authority, now);
  return { certificatePem, privateKeyPem: await privateKeyPem(keys.privateKey) };
}

/** Issues an end-entity certificate. */
export function issueCertificate(
  authority: Authority,
  order: CertificateOrder,
  now: number,
): Promise<x509.X509Certificate> {
  return x509.X509CertificateGenerator.create({
    serialNumber: newSerialNumber(),
    subject: `CN=${order.commonName}`,
    issuer: authority.certificate.subject,
    notBefore: new Date(now - backdatedMs),
    notAfter: new Date(now + order.validDays * dayMs),
    publicKey: order.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(false, undefined, true), ...order.extensions],
  });
}

async function found(files: SandboxFiles, keys: CryptoKeyPair, now: number): Promise<string> {
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    name: "CN=Sandbox Participants CA, O=Payment Initiation Sandbox",
    notBefore: new Date(now - backdatedMs),
    notAfter: new Date(now + caDays * dayMs),
    keys,
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const pem = asPem(certificate);
  await writePublic(files.caCertificate, pem);
  return pem;
}

async function certifyServer(
  files: SandboxFiles,
  keys: CryptoKeyPair,
  authority: Authority,
  now: number,
): Promise<string> {
  const certificate = await issueCertificate(authority, {
    commonName: "localhost",
    publicKey: keys.publicKey,
    validDays: serverDays,
    extensions: [
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment,
        true,
      ),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: "dns", value: "localhost" },
        { type: "ip", value: "127.0.0.1" },
        { type: "ip", value: "::1" },
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(authority.certificate.publicKey),
    ],
  }, now);
  const pem = asPem(certificate);
  await writePublic(files.serverCertificate, pem);
  return pem;
}

function isGoodUntil(pem: string, authority: Authority, time: number): boolean {
  const certificate = new x509.X509Certificate(pem);
  return certificate.notAfter.getTime() > time && certificate.issuer === authority.certificate.subject;
}

function asPem(certificate: x509.X509Certificate): string {
  return `${certificate.toString("pem").trimEnd()}\n`;
}

/** RFC 5280 §4.1.2.2: positive, at most 20 octets, unpredictable. */
function newSerialNumber(): string {
  const serial = crypto.getRandomValues(new Uint8Array(16));
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  return serial.toHex();
}
