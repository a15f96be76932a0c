/** The certificates of a key in a bundle: that they are of this key, issued by one another, and valid at a time. */
import "reflect-metadata";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from "@peculiar/x509";
import type { Key } from "./bundle_schema.ts";
import { base64url, digestOf } from "./signatures.ts";

/** A certificate of a key's chain. */
export interface Certificate {
  readonly subject: string;
  /** Another authority's name, if the chain lacks its certificate. */
  readonly issuer: string;
  /** Base64url. */
  readonly sha256: string;
}

/** When keys were revoked, milliseconds, by the SHA-256 of their certificates, base64url. */
export type Revocations = ReadonlyMap<string, number>;

/** Returns the certificates (`x5c`) of a key, its own first, or undefined if one cannot be read. */
export function certificatesOf(key: Key): readonly Certificate[] | undefined {
  return parsedChain(key)?.map((certificate) => ({
    subject: certificate.subject,
    issuer: certificate.issuer,
    sha256: thumbprint(certificate),
  }));
}

type Chain = readonly X509Certificate[] | undefined;

/** A key signs many pieces of many bundles: its certificates are read, and compared with each other, once. */
const readChains = new Map<string, Chain>();
const chainAnswers = new WeakMap<X509Certificate, Map<string, Promise<readonly string[]>>>();
const MAX_CHAINS = 100;

function parsedChain(key: Key): Chain {
  const texts: unknown = key["x5c"];
  if (texts === undefined) return [];
  if (!Array.isArray(texts) || texts.length === 0) return undefined;
  const name = JSON.stringify(texts);
  if (readChains.has(name)) return readChains.get(name);
  let chain: Chain;
  try {
    chain = texts.map((text) => new X509Certificate(Uint8Array.fromBase64(text)));
  } catch {
    chain = undefined;
  }
  if (readChains.size === MAX_CHAINS) readChains.clear();
  readChains.set(name, chain);
  return chain;
}

/** Returns the faults about a certificate that were found before, or finds them. @param about what they depend on */
function foundOnce(
  certificate: X509Certificate,
  about: string,
  find: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const answers = chainAnswers.get(certificate) ?? new Map<string, Promise<readonly string[]>>();
  chainAnswers.set(certificate, answers);
  const answer = answers.get(about) ?? find();
  if (answers.size < MAX_CHAINS) answers.set(about, answer);
  return answer;
}

/** Returns what is wrong with the certificates of a key, in words that follow its name. @param at milliseconds */
export async function chainFaults(
  key: Key,
  at: number,
  revoked: Revocations = new Map(),
): Promise<readonly string[]> {
  const chain = parsedChain(key);
  if (chain === undefined) return ["has a certificate that cannot be read"];
  const [first] = chain;
  if (first === undefined) return [];
  const faults: string[] = [];
  faults.push(
    ...await foundOnce(
      first,
      JSON.stringify([key.n, key.e]),
      async () => await isOf(first, key) ? [] : ["has a certificate of another key"],
    ),
  );
  if (typeof key["x5t#S256"] === "string" && key["x5t#S256"] !== thumbprint(first)) {
    faults.push("has another certificate than the one that it was published with (x5t#S256)");
  }
  for (const [place, certificate] of chain.entries()) {
    const issuer = chain[place + 1];
    const found = [...timeFaults(certificate, at, revoked)];
    if (issuer !== undefined) {
      found.push(...await foundOnce(certificate, "issuer", () => issuerFaults(certificate, issuer)));
    }
    faults.push(...found.map((fault) => `has the certificate ${certificate.subject}, which ${fault}`));
  }
  return faults;
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
  return base64url(digestOf(new Uint8Array(certificate.rawData)));
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
