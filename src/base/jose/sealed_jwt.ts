/**
 * Handover JWTs: JWE(JWS(claims)), exactly two layers (Decision A10). Encryption does not authenticate the sender:
 * `openSealed` returns an unverified JWS.
 *
 * Decryption has the two steps of RFC 7516 §5.2, so that the private key may be in a token: the key decrypts the content
 * key (32 bytes), and WebCrypto the content, with the encoded header as the authenticated data.
 */
import { CompactEncrypt } from "jose";
import { utf8Text } from "../kernel/json.ts";
import { mismatch, ok, type Result } from "../kernel/result.ts";
import { CONTENT_ENCRYPTION_ALG, KEY_MANAGEMENT_ALG, MAX_JWT_CHARACTERS } from "../limits.ts";
import { decodeObject, isCanonicalBase64url, type JsonObject } from "./compact_jws.ts";
import { decryptWith, type OwnKey } from "./own_key.ts";

/** A key and its published kid. */
export interface NamedKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

const FIVE_SEGMENTS = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){4}$/;
// A256GCM (RFC 7518 §5.3)
const [CONTENT_KEY_BYTES, IV_BYTES, TAG_BYTES] = [32, 12, 16];
const OUTER_MEMBERS = new Set(["alg", "enc", "kid", "cty", "typ"]);

/** Encrypts a signed JWT to the recipient. */
export async function seal(signed: string, recipient: NamedKey): Promise<string> {
  return await new CompactEncrypt(new TextEncoder().encode(signed))
    .setProtectedHeader({
      alg: KEY_MANAGEMENT_ALG,
      enc: CONTENT_ENCRYPTION_ALG,
      cty: "JWT",
      kid: recipient.kid,
    })
    .encrypt(recipient.key);
}

/**
 * Decrypts a handover JWT with the platform's key that its `kid` names. Returns the inner compact JWS, which is not
 * verified. Callers must answer every failure in the same way (contract BR17).
 */
export async function openSealed(token: string, keys: readonly OwnKey[]): Promise<Result<string>> {
  if (token.length > MAX_JWT_CHARACTERS) {
    return mismatch("encrypted token", `at most ${MAX_JWT_CHARACTERS} characters`, token.length);
  }
  if (!FIVE_SEGMENTS.test(token) || !token.split(".").every(isCanonicalBase64url)) {
    return mismatch("encrypted token", "a compact JWE: five segments of canonical base64url");
  }
  const header = outerHeader(token);
  if (!header.ok) return header;
  const { kid } = header.value;
  const candidate = keys.find((key) => key.kid === kid);
  if (candidate === undefined) return mismatch("outer header kid", "a published use: enc key", kid);
  const plaintext = await decryptToken(token, candidate.key);
  if (plaintext === undefined) {
    return mismatch("encrypted token", "decryptable with the key that kid names");
  }
  const inner = utf8Text(plaintext);
  return inner === undefined ? mismatch("plaintext", "UTF-8") : ok(inner);
}

/** Returns undefined in the same way, whatever part is wrong (RFC 7516 §11.5). */
async function decryptToken(token: string, key: OwnKey["key"]): Promise<Uint8Array | undefined> {
  const [header = "", ...segments] = token.split(".");
  const [encryptedKey, iv, ciphertext, tag] = segments.map((segment) =>
    Uint8Array.fromBase64(segment, { alphabet: "base64url" })
  );
  if (encryptedKey === undefined || iv === undefined || ciphertext === undefined || tag === undefined) return;
  if (iv.length !== IV_BYTES || tag.length !== TAG_BYTES) return;
  const found = await decryptWith(key, encryptedKey);
  const isKey = found?.length === CONTENT_KEY_BYTES;
  const contentKey = isKey ? found : crypto.getRandomValues(new Uint8Array(CONTENT_KEY_BYTES));
  const content = new Uint8Array(ciphertext.length + TAG_BYTES);
  content.set(ciphertext);
  content.set(tag, ciphertext.length);
  const additionalData = new TextEncoder().encode(header);
  try {
    const imported = await crypto.subtle.importKey("raw", contentKey, "AES-GCM", false, ["decrypt"]);
    const algorithm = { name: "AES-GCM", iv, additionalData, tagLength: TAG_BYTES * 8 };
    return new Uint8Array(await crypto.subtle.decrypt(algorithm, imported, content));
  } catch {
    return undefined;
  }
}

function outerHeader(token: string): Result<JsonObject> {
  const decoded = decodeObject("outer header", token.slice(0, token.indexOf(".")));
  if (!decoded.ok) return decoded;
  const { alg, enc, cty } = decoded.value;
  const unknown = Object.keys(decoded.value).find((name) => !OUTER_MEMBERS.has(name));
  if (unknown !== undefined) { // zip, crit, jwk, epk, p2c, apu ...
    return mismatch("outer header", `without members other than ${[...OUTER_MEMBERS].join(", ")}`, unknown);
  }
  if (alg !== KEY_MANAGEMENT_ALG) return mismatch("outer header alg", KEY_MANAGEMENT_ALG, alg);
  if (enc !== CONTENT_ENCRYPTION_ALG) return mismatch("outer header enc", CONTENT_ENCRYPTION_ALG, enc);
  const isJwt = cty === undefined || (typeof cty === "string" && cty.toUpperCase() === "JWT");
  return isJwt ? decoded : mismatch("outer header cty", "JWT or absent", cty);
}
