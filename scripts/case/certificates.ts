/** The certificates of a key in a bundle: that they are of this key, issued by one another, and valid at a time. */
import "reflect-metadata";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from "@peculiar/x509";
import type { Key } from "./bundle_schema.ts";
import { digestOf, textOf } from "./signatures.ts";

/** The faults of a chain, and its last certificate, which the reader must know from elsewhere. */
export interface Chain {
  readonly faults: readonly string[];
  /** The last certificate. Absent if the key has none. */
  readonly anchor?: Anchor;
}

export interface Anchor {
  readonly subject: string;
  /** Base64url. */
  readonly sha256: string;
  /** Who issued it, if that was another authority, whose certificate the chain lacks. */
  readonly missing?: string;
}

/** When keys were revoked, milliseconds, by the SHA-256 of their certificates, base64url. */
export type Revocations = ReadonlyMap<string, number>;

/** Checks the certificates (`x5c`) of a key, the key's own first. @param at milliseconds */
export async function readChain(key: Key, at: number, revoked: Revocations = new Map()): Promise<Chain> {
  const texts: unknown = key["x5c"];
  if (!Array.isArray(texts) || texts.length === 0) return { faults: [] };
  let chain: readonly X509Certificate[];
  try {
    chain = texts.map((text) => new X509Certificate(Uint8Array.fromBase64(text)));
  } catch {
    return { faults: ["has a certificate that cannot be read"] };
  }
  const [first] = chain;
  const last = chain.at(-1);
  if (first === undefined || last === undefined) return { faults: [] };
  const faults: string[] = [];
  if (!await isOf(first, key)) faults.push("has a certificate of another key");
  if (typeof key["x5t#S256"] === "string" && key["x5t#S256"] !== thumbprint(first)) {
    faults.push("has another certificate than the one that it was published with (x5t#S256)");
  }
  for (const [place, certificate] of chain.entries()) {
    const issuer = chain[place + 1];
    const found = [...timeFaults(certificate, at, revoked)];
    if (issuer !== undefined) found.push(...await issuerFaults(certificate, issuer));
    faults.push(...found.map((fault) => `has the certificate ${certificate.subject}, which ${fault}`));
  }
  const missing = last.issuer === last.subject ? {} : { missing: last.issuer };
  return { faults, anchor: { subject: last.subject, sha256: thumbprint(last), ...missing } };
}

function* timeFaults(certificate: X509Certificate, at: number, revoked: Revocations): Generator<string> {
  const { notBefore, notAfter } = certificate;
  const time = timeOf(at);
  if (at < notBefore.getTime()) yield `was valid only from ${timeOf(notBefore.getTime())}, after ${time}`;
  if (at > notAfter.getTime()) yield `expired at ${timeOf(notAfter.getTime())}, before ${time}`;
  const revokedAt = revoked.get(thumbprint(certificate));
  if (revokedAt !== undefined && revokedAt <= at) yield `was revoked at ${timeOf(revokedAt)}, before ${time}`;
}

/** RFC 5280 §6.1.3 (a) and §6.1.4 (k), (n): name, signature, and that the issuer is an authority. */
async function issuerFaults(
  certificate: X509Certificate,
  issuer: X509Certificate,
): Promise<readonly string[]> {
  if (certificate.issuer !== issuer.subject) {
    return [`${certificate.issuer} issued, and the next one of the chain is of ${issuer.subject}`];
  }
  const isIssued = await certificate.verify({ publicKey: issuer.publicKey, signatureOnly: true })
    .catch(() => false);
  const usage = issuer.getExtension(KeyUsagesExtension)?.usages ?? KeyUsageFlags.keyCertSign;
  const isAuthority = issuer.getExtension(BasicConstraintsExtension)?.ca === true &&
    (usage & KeyUsageFlags.keyCertSign) !== 0;
  return [
    ...isIssued ? [] : [`the key of ${issuer.subject} has not signed`],
    ...isAuthority ? [] : [`was issued by ${issuer.subject}, which is no certificate authority`],
  ];
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function thumbprint(certificate: X509Certificate): string {
  return textOf(digestOf(new Uint8Array(certificate.rawData)));
}

async function isOf({ publicKey }: X509Certificate, { n, e }: Key): Promise<boolean> {
  try {
    const imported = await crypto.subtle.importKey(
      "spki",
      publicKey.rawData,
      { name: "RSA-PSS", hash: "SHA-256" },
      true,
      ["verify"],
    );
    const jwk = await crypto.subtle.exportKey("jwk", imported);
    return jwk.n === n && jwk.e === e;
  } catch {
    return false;
  }
}
