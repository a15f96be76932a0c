/** Reads private keys as PEM, PKCS 8, unencrypted. */

const PEM = /^-----BEGIN PRIVATE KEY-----\s([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----$/;

/**
 * The DER in a PKCS 8 PEM.
 *
 * @throws {Error} with a message to be appended to the name of the key; never quotes the text
 */
export function privateKeyDer(pem: string): Uint8Array<ArrayBuffer> {
  const base64 = PEM.exec(pem.trim())?.[1];
  if (base64 === undefined) throw new Error("private key is not PEM of PKCS 8 (BEGIN PRIVATE KEY)");
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    throw new Error("private key is not PEM of PKCS 8 (BEGIN PRIVATE KEY)");
  }
}
