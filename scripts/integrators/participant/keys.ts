/** A participant's key pairs and their signing requests, made on this computer. Private keys go into files and nowhere else. */
import "reflect-metadata";
import { Pkcs10CertificateRequestGenerator, X509Certificate } from "@peculiar/x509";
import type { KeyName } from "./arguments.ts";
import { ParticipantFailure } from "./folder.ts";

/** A new key pair. */
export interface MadeKey {
  readonly name: KeyName;
  /** PKCS 8. */
  readonly privateKeyPem: string;
  readonly requestPem: string;
  readonly publicKey: CryptoKey;
}

const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-256",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};

/** Makes a key pair for each purpose. The request's subject is a courtesy: the directory writes its own. */
export function makeKeys(names: readonly KeyName[], participant: string): Promise<MadeKey[]> {
  return Promise.all(names.map(async (name) => {
    const keys = await crypto.subtle.generateKey(RSA, true, ["sign", "verify"]);
    const request = await Pkcs10CertificateRequestGenerator.create({
      name: [{ CN: [`${participant} ${name}`] }],
      keys,
      signingAlgorithm: RSA,
    });
    const privateKeyPem = pem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", keys.privateKey));
    return { name, privateKeyPem, requestPem: request.toString("pem"), publicKey: keys.publicKey };
  }));
}

/**
 * The kid of a certificate (x5t, Decision E4), once it is sure that it certifies our key.
 *
 * @throws {ParticipantFailure} where it is another key's
 */
export async function kidOfCertificate(
  certificatePem: string,
  { name, publicKey }: MadeKey,
): Promise<string> {
  const certificate = parseCertificate(certificatePem, name);
  const [theirs, ours] = await Promise.all(
    [certificate.publicKey.export(), publicKey].map(async (key) =>
      (await crypto.subtle.exportKey("jwk", await key)).n
    ),
  );
  if (theirs !== ours) {
    throw new ParticipantFailure(`The directory's ${name} certificate is for a key that is not ours.`);
  }
  const x5t = new Uint8Array(await crypto.subtle.digest("SHA-1", certificate.rawData));
  return x5t.toBase64({ alphabet: "base64url", omitPadding: true });
}

function parseCertificate(certificatePem: string, name: KeyName): X509Certificate {
  try {
    return new X509Certificate(certificatePem);
  } catch {
    throw new ParticipantFailure(`The directory's ${name} certificate is no certificate.`);
  }
}

function pem(label: string, der: ArrayBuffer): string {
  const lines = new Uint8Array(der).toBase64().match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
