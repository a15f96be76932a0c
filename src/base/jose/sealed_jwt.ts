/**
 * Handover JWTs: JWE(JWS(claims)), exactly two layers (Decision A10). Encryption does not authenticate the sender:
 * `openSealed` returns an unverified JWS.
 */
import { compactDecrypt, CompactEncrypt } from "jose";
import { utf8Text } from "../kernel/strict_json.ts";
import { described, mismatch, ok, type Result } from "../kernel/result.ts";
import { CONTENT_ENCRYPTION_ALG, KEY_MANAGEMENT_ALG, MAX_JWT_CHARACTERS } from "../limits.ts";
import { decodeObject, isCanonicalBase64url, joseFailure, type JsonObject } from "./compact_jws.ts";

/** A private key and the kid of its published public key. */
export interface NamedKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

const FIVE_SEGMENTS = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){4}$/;
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
export async function openSealed(token: string, keys: readonly NamedKey[]): Promise<Result<string>> {
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
  try {
    const { plaintext } = await compactDecrypt(token, candidate.key, {
      keyManagementAlgorithms: [KEY_MANAGEMENT_ALG],
      contentEncryptionAlgorithms: [CONTENT_ENCRYPTION_ALG],
      maxDecompressedLength: 0,
    });
    const inner = utf8Text(plaintext);
    return inner === undefined ? mismatch("plaintext", "UTF-8") : ok(inner);
  } catch (error) {
    return described("encrypted token", "decryptable with the key that kid names", joseFailure(error));
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
