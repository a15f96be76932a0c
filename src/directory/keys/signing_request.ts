/**
 * Verifies a certificate signing request as proof of possession of an RSA private key. Ignores its subject, attributes
 * and requested extensions.
 */
import "reflect-metadata";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import { jwkThumbprint, readRsaPublicJwk, type RsaPublicJwk } from "../../base/jose/rsa_key.ts";
import { because, ok, type Reason, type Result } from "../../base/kernel/result.ts";
import { MAX_RSA_BITS, MIN_RSA_BITS } from "../../base/limits.ts";

/** A public key whose holder has proven possession of the private key. */
export interface ProvenKey {
  readonly jwk: RsaPublicJwk;
  /** RFC 7638 thumbprint. */
  readonly thumbprint: string;
  /** The key in its canonical encoding, regardless of the encoding in the request. */
  readonly publicKey: CryptoKey;
}

const PEM =
  /^-----BEGIN (NEW )?CERTIFICATE REQUEST-----\s([A-Za-z0-9+/=\s]+)-----END \1?CERTIFICATE REQUEST-----\s*$/m;
const SIGNATURES = ["RSASSA-PKCS1-v1_5", "RSA-PSS"];
const HASHES = ["SHA-256", "SHA-384", "SHA-512"];
const KEY_RULE = `must hold an RSA key of ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits with exponent 65537`;

/** Verifies a PEM request (RFC 2986). A rejection explains the problem to the sender. */
export async function readSigningRequest(pem: string): Promise<Result<ProvenKey, Reason>> {
  const request = parse(pem);
  if (request === undefined) return because("must be one PEM certificate signing request (PKCS 10)");
  const jwk = await publicJwk(request);
  if (jwk === undefined) return because(KEY_RULE);
  const { name, hash } = request.signatureAlgorithm;
  if (!SIGNATURES.includes(name) || !HASHES.includes(hash?.name ?? "")) {
    return because("must be signed with RSA and SHA-256, SHA-384 or SHA-512");
  }
  if (!await isSignedByItsKey(request)) return because("must be signed with the private half of its own key");
  const publicKey = await crypto.subtle.importKey(
    "jwk",
    { ...jwk },
    { name: "RSA-PSS", hash: "SHA-256" },
    true,
    ["verify"],
  );
  return ok({ jwk, thumbprint: await jwkThumbprint(jwk), publicKey });
}

// The parser and WebCrypto throw errors of many classes for malformed bytes. All of them mean that the request is not
// usable.
function parse(pem: string): Pkcs10CertificateRequest | undefined {
  const isOne = pem.split("-----BEGIN ").length === 2; // text before and after it is no part of it (RFC 7468 §2)
  const base64 = PEM.exec(pem)?.[2];
  if (base64 === undefined || !isOne) return undefined;
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
