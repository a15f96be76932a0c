/**
 * A certificate signing request as evidence of one thing: whoever made it holds the private half of this RSA
 * key. Subject, attributes and requested extensions are never looked at.
 */
import "reflect-metadata";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import { jwkThumbprint, readRsaPublicJwk, type RsaPublicJwk } from "../base/jose/rsa_key.ts";
import { no, type Verdict, yes } from "../base/kernel/verdict.ts";
import { MAX_RSA_BITS, MIN_RSA_BITS } from "../base/limits.ts";

/** A public key whose holder has proven possession of the private key. */
export interface ProvenKey {
  readonly jwk: RsaPublicJwk;
  /** RFC 7638 thumbprint. */
  readonly thumbprint: string;
  /** The key in its canonical encoding, whatever the request's was. */
  readonly publicKey: CryptoKey;
}

const PEM =
  /^-----BEGIN (NEW )?CERTIFICATE REQUEST-----\s([A-Za-z0-9+/=\s]+)-----END \1?CERTIFICATE REQUEST-----$/;
const SIGNATURES = ["RSASSA-PKCS1-v1_5", "RSA-PSS"];
const HASHES = ["SHA-256", "SHA-384", "SHA-512"];
const KEY_RULE = `must hold an RSA key of ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits with exponent 65537`;

/** Judges a PEM request (RFC 2986). A "no" is in words for the one who sent it. */
export async function readSigningRequest(pem: string): Promise<Verdict<ProvenKey>> {
  const request = parse(pem);
  if (request === undefined) return no("must be one PEM certificate signing request (PKCS 10)");
  const jwk = await publicJwk(request);
  if (jwk === undefined) return no(KEY_RULE);
  const { name, hash } = request.signatureAlgorithm;
  if (!SIGNATURES.includes(name) || !HASHES.includes(hash?.name ?? "")) {
    return no("must be signed with RSA and SHA-256, SHA-384 or SHA-512");
  }
  if (!await isSignedByItsKey(request)) return no("must be signed with the private half of its own key");
  const publicKey = await crypto.subtle.importKey(
    "jwk",
    { ...jwk },
    { name: "RSA-PSS", hash: "SHA-256" },
    true,
    ["verify"],
  );
  return yes({ jwk, thumbprint: await jwkThumbprint(jwk), publicKey });
}

// The parser and WebCrypto throw errors of many classes at bytes that are not what they should be: all of them mean
// "not a usable request", none of them a bug here.
function parse(pem: string): Pkcs10CertificateRequest | undefined {
  const base64 = PEM.exec(pem.trim())?.[2];
  if (base64 === undefined) return undefined;
  try {
    const request = new Pkcs10CertificateRequest(Uint8Array.fromBase64(base64));
    void request.publicKey; // parsed on first use
    void request.signatureAlgorithm;
    return request;
  } catch {
    return undefined;
  }
}

async function publicJwk(request: Pkcs10CertificateRequest): Promise<RsaPublicJwk | undefined> {
  try {
    const algorithm = { name: "RSA-PSS", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("spki", request.publicKey.rawData, algorithm, true, ["verify"]);
    const { kty, n, e } = await crypto.subtle.exportKey("jwk", key);
    const judged = readRsaPublicJwk({ kty, n, e });
    return judged.ok ? judged.value : undefined;
  } catch {
    return undefined;
  }
}

async function isSignedByItsKey(request: Pkcs10CertificateRequest): Promise<boolean> {
  try {
    return await request.verify();
  } catch {
    return false;
  }
}
