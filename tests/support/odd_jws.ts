/** JWS by algorithms that the platform must not accept, made with WebCrypto since jose would reject to. */
import type { JsonObject } from "../../scripts/testing/jwts.ts";
import { segment } from "../../scripts/testing/raw_jws.ts";
import type { TestKey } from "../../scripts/testing/keys.ts";

/** RS256 by an RSA key: the right key, the wrong algorithm. */
export async function rs256Jws(key: TestKey, header: JsonObject, claims: JsonObject): Promise<string> {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const signer = await crypto.subtle.importKey("jwk", { ...key.privateJwk }, algorithm, false, ["sign"]);
  return await signed(signer, algorithm.name, header, claims);
}

/** HS256 with a public key as the secret (RFC 8725 §2.1). */
export async function hmacJws(key: TestKey, header: JsonObject, claims: JsonObject): Promise<string> {
  const spki = await crypto.subtle.exportKey("spki", await key.publicKey("verify"));
  const pem = `-----BEGIN PUBLIC KEY-----\n${new Uint8Array(spki).toBase64()}\n-----END PUBLIC KEY-----\n`;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secret = new TextEncoder().encode(pem);
  const signer = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  return await signed(signer, algorithm.name, header, claims);
}

async function signed(key: CryptoKey, name: string, header: JsonObject, claims: JsonObject): Promise<string> {
  const input = `${segment(header)}.${segment(claims)}`;
  const signature = await crypto.subtle.sign(name, key, new TextEncoder().encode(input));
  return `${input}.${segment(new Uint8Array(signature))}`;
}
