/** RSA key pairs in PKCS#8 PEM files: created once, then read. */
import { readIfAny, writeSecret } from "./sandbox_files.ts";

/** The imported keys can sign certificates and requests. The reader of a PEM may import it for another use. */
export const KEY_ALGORITHM = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;

const pemLabel = "PRIVATE KEY";

/** Makes a key pair that can sign and can be exported. */
export type MakeKeyPair = () => Promise<CryptoKeyPair>;

/** Reads the key pair in a file, or creates the file. */
export async function keyPairAt(path: string, make: MakeKeyPair = makeKeyPair): Promise<CryptoKeyPair> {
  const pem = await readIfAny(path);
  if (pem !== undefined) return await readKeyPair(pem);
  const pair = await make();
  await writeSecret(path, await privateKeyPem(pair.privateKey));
  return pair;
}

/** A new 2048-bit RSA key pair. */
export function makeKeyPair(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(
    { ...KEY_ALGORITHM, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
    true,
    ["sign", "verify"],
  );
}

/** A private key as PKCS#8 PEM. */
export async function privateKeyPem(key: CryptoKey): Promise<string> {
  const lines = new Uint8Array(await crypto.subtle.exportKey("pkcs8", key)).toBase64().match(/.{1,64}/g) ??
    [];
  return [`-----BEGIN ${pemLabel}-----`, ...lines, `-----END ${pemLabel}-----`, ""].join("\n");
}

async function readKeyPair(pem: string): Promise<CryptoKeyPair> {
  const der = Uint8Array.fromBase64(pem.replace(/-----[A-Z ]+-----/g, ""));
  const privateKey = await crypto.subtle.importKey("pkcs8", der, KEY_ALGORITHM, true, ["sign"]);
  const { kty, n, e } = await crypto.subtle.exportKey("jwk", privateKey);
  if (kty === undefined || n === undefined || e === undefined) throw new Error("not an RSA private key");
  const publicKey = await crypto.subtle.importKey("jwk", { kty, n, e }, KEY_ALGORITHM, true, ["verify"]);
  return { privateKey, publicKey };
}
