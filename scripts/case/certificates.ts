/** The certificates of a key in a bundle: that they are of this key, issued by one another, and valid at a time. */
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import type { Key } from "./bundle_schema.ts";
import { digestOf, textOf } from "./signatures.ts";

/** The faults of a chain, and its last certificate, which the reader must know from elsewhere. */
export interface Chain {
  readonly faults: readonly string[];
  /** Subject and SHA-256 (base64url) of the last certificate. Absent if the key has no certificates. */
  readonly anchor?: { readonly subject: string; readonly sha256: string };
}

/** Checks the certificates (`x5c`) of a key. @param at milliseconds */
export async function readChain(key: Key, at: number): Promise<Chain> {
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
  for (const [place, certificate] of chain.entries()) {
    const issuer = chain[place + 1];
    if (at < certificate.notBefore.getTime() || at > certificate.notAfter.getTime()) {
      faults.push(`has a certificate that was not valid at ${new Date(at).toISOString()}`);
    }
    if (issuer === undefined) continue;
    const isIssued = await certificate.verify({ publicKey: issuer.publicKey, signatureOnly: true })
      .catch(() => false);
    if (!isIssued) faults.push("has a certificate that the next one has not issued");
  }
  return { faults, anchor: { subject: last.subject, sha256: thumbprint(last) } };
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
