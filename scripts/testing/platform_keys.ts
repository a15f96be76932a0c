/**
 * The platform's private key set in tests: pool keys 12 (sig, with its own certificate) and 13 (enc), or others for a
 * set with more keys.
 */
import "reflect-metadata";
import { X509CertificateGenerator } from "@peculiar/x509";
import { testKey } from "./keys.ts";

const keySets = new Map<string, Promise<string>>();

/** `PLATFORM_KEYS` as JSON. The same arguments give the same certificate in all tests of a file. */
export function platformKeySet(sig = 12, enc = 13, notAfter: number = Date.UTC(2046, 0, 1)): Promise<string> {
  const name = `${sig} ${enc} ${notAfter}`;
  const made = keySets.get(name) ?? makeKeySet(sig, enc, new Date(notAfter));
  keySets.set(name, made);
  return made;
}

async function makeKeySet(sig: number, enc: number, notAfter: Date): Promise<string> {
  const [signing, decryption] = await Promise.all([testKey(sig), testKey(enc)]);
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey("jwk", { ...signing.privateJwk }, algorithm, true, ["sign"]),
    crypto.subtle.importKey("jwk", { ...signing.publicJwk }, algorithm, true, ["verify"]),
  ]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=platform signing",
    notBefore: new Date(Date.UTC(2026, 0, 1)),
    notAfter,
    signingAlgorithm: algorithm,
    keys: { privateKey, publicKey },
  });
  const der = new Uint8Array(certificate.rawData);
  const x5t = await digest("SHA-1", der);
  const signed = {
    ...signing.privateJwk,
    use: "sig",
    kid: x5t,
    x5t,
    "x5t#S256": await digest("SHA-256", der),
    x5c: [der.toBase64()],
  };
  const kid = enc === 13 ? "platform-enc" : `platform-enc-${enc}`;
  return JSON.stringify({ keys: [signed, { ...decryption.privateJwk, use: "enc", kid }] });
}

async function digest(name: "SHA-1" | "SHA-256", bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest(name, bytes)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}
