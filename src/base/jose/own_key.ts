/**
 * The port of the keys that this program signs and decrypts with. The private half is a WebCrypto key of this process, or
 * it is in a token and only another process can use it.
 */

/** A private RSA key that never enters this process. Both functions throw an ApiError if the token does not answer. */
export interface TokenKey {
  /** Returns a PS256 signature (RFC 7518 §3.5). */
  sign(input: Bytes): Promise<Bytes>;
  /** RSA-OAEP-256 (RFC 7518 §4.3). Returns undefined for bytes that this key cannot decrypt. */
  decrypt(encrypted: Bytes): Promise<Bytes | undefined>;
}

/** Finds the keys of a token. */
export interface Token {
  key(kid: string): TokenKey;
}

/** A private key and the kid of its published public key. */
export interface OwnKey {
  readonly kid: string;
  readonly key: CryptoKey | TokenKey;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** RSASSA-PSS as PS256 has it (RFC 7518 §3.5). */
export const PS256 = { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 } as const;
/** RSAES-OAEP as RSA-OAEP-256 has it (RFC 7518 §4.3). */
export const RSA_OAEP_256 = { name: "RSA-OAEP", hash: "SHA-256" } as const;

/** Returns a PS256 signature. */
export async function signWith(key: OwnKey["key"], input: Bytes): Promise<Bytes> {
  if ("sign" in key) return await key.sign(input);
  return new Uint8Array(await crypto.subtle.sign(PS256, key, input));
}

/** Returns what RSA-OAEP-256 has encrypted, or undefined for bytes that the key cannot decrypt. */
export async function decryptWith(key: OwnKey["key"], encrypted: Bytes): Promise<Bytes | undefined> {
  if ("decrypt" in key) return await key.decrypt(encrypted);
  try {
    return new Uint8Array(await crypto.subtle.decrypt(RSA_OAEP_256, key, encrypted));
  } catch {
    return undefined;
  }
}
