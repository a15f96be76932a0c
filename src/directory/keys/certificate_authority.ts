/**
 * The directory's certificate authority: loads its certificate and key, and issues end-entity certificates whose fields
 * all come from the directory's own data (RFC 5280). Stores no data.
 */
import "reflect-metadata";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  PemConverter,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { AuthorityToken } from "../../base/http/signer_client.ts";
import { cryptoWithSign } from "../../base/jose/token_crypto.ts";
import { base64url } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { CertifiedKey, KeyUse } from "../participants/certified_key.ts";
import { privateKeyDer } from "./private_key_pem.ts";
import type { ProvenKey } from "./signing_request.ts";

/** An authority that can issue certificates. */
export interface CertificateAuthority {
  readonly certificate: X509Certificate;
  /** Signs certificates. In a token, `crypto` signs, and this is the public key. */
  readonly signing: { readonly key: CryptoKey; readonly crypto: Crypto };
  /** Its subject key identifier, hex. */
  readonly keyId: string;
  /** The certificate and its issuers as PEM, for clients that verify. */
  readonly pem: string;
}

/** Verified company data for a certificate's subject. */
export interface Subject {
  readonly orgName: string;
  readonly orgId: string;
  readonly softwareClientId: string;
}

/** Clients' clocks may be this far behind, ms. */
const BACKDATED_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
/** RFC 5280 App. A.1, ub-organization-name. */
const MAX_ORGANISATION_CHARACTERS = 64;
const RSA = "RSASSA-PKCS1-v1_5";

/** A certificate authority's own certificate, with those above it, and its private key (PKCS 8) or the token that has it. */
export type AuthorityParts =
  & { readonly certificatePem: string }
  & ({ readonly privateKeyPem: string } | { readonly token: AuthorityToken });

/**
 * Opens the authority.
 *
 * @throws {Error} with a message to be appended to "the CA …"; never contains key values
 */
export async function openCertificateAuthority(
  ca: AuthorityParts,
  now: number,
): Promise<CertificateAuthority> {
  const [certificate, ...above] = parseCertificates(ca.certificatePem);
  if ([certificate, ...above].some((one) => one.getExtension(BasicConstraintsExtension)?.ca !== true)) {
    throw new Error("certificate is not a CA's");
  }
  const usages = certificate.getExtension(KeyUsagesExtension)?.usages ?? KeyUsageFlags.keyCertSign;
  if ((usages & KeyUsageFlags.keyCertSign) === 0) throw new Error("certificate may not sign certificates");
  if (certificate.notAfter.getTime() <= now) throw new Error("certificate has expired");
  await requireChain([certificate, ...above]);
  const signing = await openSigning(ca, certificate);
  const keyId = certificate.getExtension(SubjectKeyIdentifierExtension)?.keyId ??
    new Uint8Array(await certificate.publicKey.getKeyIdentifier()).toHex();
  const pem = [certificate, ...above].map((one) => `${one.toString("pem").trim()}\n`).join("");
  return { certificate, signing, keyId, pem };
}

/**
 * Issues a certificate for a proven key, valid for `days` and no longer than the authority's own.
 *
 * @throws {ApiError} `platform.unavailable` if the authority has expired
 */
export async function issueCertificate(
  ca: CertificateAuthority,
  order: {
    readonly use: KeyUse;
    readonly key: ProvenKey;
    readonly subject: Subject;
    /** Milliseconds; not after now. */
    readonly from: number;
    readonly days: number;
  },
  now: number,
): Promise<CertifiedKey> {
  const { use, key, subject, from, days } = order;
  const notBefore = Math.max(wholeSeconds(from - BACKDATED_MS), ca.certificate.notBefore.getTime());
  const notAfter = Math.min(wholeSeconds(now + days * DAY_MS), ca.certificate.notAfter.getTime());
  if (notAfter <= now) throw new ApiError("platform.unavailable", "the CA certificate has expired");
  const certificate = await X509CertificateGenerator.create({
    serialNumber: randomSerial(),
    subject: distinguishedName(subject),
    issuer: ca.certificate.subjectName,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    publicKey: key.publicKey,
    signingKey: ca.signing.key,
    extensions: await extensions(use, key.publicKey, ca.keyId),
  }, ca.signing.crypto);
  return await asCertifiedKey(certificate, use, key, { issuedAt: now, notBefore, notAfter });
}

async function asCertifiedKey(
  certificate: X509Certificate,
  use: KeyUse,
  key: ProvenKey,
  times: { readonly issuedAt: number; readonly notBefore: number; readonly notAfter: number },
): Promise<CertifiedKey> {
  const der = new Uint8Array(certificate.rawData);
  const digest = async (hash: string): Promise<string> =>
    base64url(new Uint8Array(await crypto.subtle.digest(hash, der)));
  return {
    kid: await digest("SHA-1"), // Decision E4; RFC 7517 §4.8
    use,
    n: key.jwk.n,
    e: key.jwk.e,
    certificate: der.toBase64(),
    x5tS256: await digest("SHA-256"),
    thumbprint: key.thumbprint,
    ...times,
  };
}

async function extensions(use: KeyUse, publicKey: CryptoKey, authorityKeyId: string): Promise<Extension[]> {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KEY_USAGES[use], true),
    ...(use === "tls" ? [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])] : []),
    await SubjectKeyIdentifierExtension.create(publicKey),
    new AuthorityKeyIdentifierExtension(authorityKeyId),
  ];
}

const KEY_USAGES: Readonly<Record<KeyUse, KeyUsageFlags>> = {
  sig: KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation,
  tls: KeyUsageFlags.digitalSignature,
  enc: KeyUsageFlags.keyEncipherment,
};

// Values are passed as typed strings. The library would parse plain ones as its own text form, in which a leading "#"
// means DER in hex, and quotes and backslashes are escapes.
function distinguishedName({ orgName, orgId, softwareClientId }: Subject): Name {
  return new Name([
    { O: [{ utf8String: [...orgName].slice(0, MAX_ORGANISATION_CHARACTERS).join("") }] },
    { OU: [{ utf8String: orgId }] },
    { CN: [{ utf8String: softwareClientId }] },
  ]);
}

// 128 random bits after a fixed octet: positive, non-zero, within 20 octets (RFC 5280 §4.1.2.2).
function randomSerial(): string {
  return `01${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
}

// The issuing authority first, then its issuers up to the root.
function parseCertificates(pem: string): [X509Certificate, ...X509Certificate[]] {
  try {
    const [first, ...rest] = PemConverter.decode(pem).map((der) => new X509Certificate(der));
    if (first !== undefined) return [first, ...rest];
  } catch {
    // reported below
  }
  throw new Error("certificate is not a PEM certificate");
}

/** TLS proxies trust each certificate of the file, so that one in it by mistake could make participants. */
async function requireChain(certificates: readonly X509Certificate[]): Promise<void> {
  for (const [index, above] of certificates.slice(1).entries()) {
    const one = certificates[index];
    const isIssuer = one?.issuer === above.subject &&
      await one.verify({ publicKey: above.publicKey, signatureOnly: true }).catch(() => false);
    if (!isIssuer) throw new Error("certificate is followed by one that is not of its issuer");
  }
}

async function openSigning(
  held: AuthorityParts,
  certificate: X509Certificate,
): Promise<CertificateAuthority["signing"]> {
  const algorithm = { ...certificate.publicKey.algorithm, hash: "SHA-256" };
  if (algorithm.name !== RSA && algorithm.name !== "ECDSA") throw new Error("key is neither RSA nor ECDSA");
  const publicKey = await certificate.publicKey.export(algorithm, ["verify"]);
  const signing = "token" in held
    ? { key: publicKey, crypto: await cryptoOfToken(held.token, publicKey) }
    : { key: await importKey(held.privateKeyPem, algorithm), crypto };
  const probe = crypto.getRandomValues(new Uint8Array(32));
  const signature = await signing.crypto.subtle.sign(algorithm, signing.key, probe);
  if (await crypto.subtle.verify(algorithm, publicKey, signature, probe)) return signing;
  throw new Error("private key is not the one of its certificate");
}

async function importKey(
  pem: string,
  algorithm: EcKeyImportParams | RsaHashedImportParams,
): Promise<CryptoKey> {
  return await crypto.subtle.importKey("pkcs8", privateKeyDer(pem), algorithm, false, ["sign"]).catch(() => {
    throw new Error("private key does not have the kind of key that its certificate has");
  });
}

async function cryptoOfToken(token: AuthorityToken, publicKey: CryptoKey): Promise<Crypto> {
  const { n } = await crypto.subtle.exportKey("jwk", publicKey);
  if (n === undefined) throw new Error("key is not RSA, which a key in a token must be");
  return cryptoWithSign((data) => token.certify(n, data));
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
}
