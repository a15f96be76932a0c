/**
 * Handover JWTs: JWE(JWS(claims)), exactly two layers (Decision A10). Encryption does not authenticate the sender:
 * `openSealed` returns an unverified JWS.
 */
import { compactDecrypt, CompactEncrypt, SignJWT } from "jose";
import { utf8Text } from "../kernel/strict_json.ts";
import { no, type Verdict, yes } from "../kernel/verdict.ts";
import { CONTENT_ENCRYPTION_ALG, KEY_MANAGEMENT_ALG, MAX_JWT_CHARACTERS, SIGNATURE_ALG } from "../limits.ts";
import { decodeObject, isCanonicalBase64url, joseFailure, type JsonObject } from "./compact_jws.ts";

/** A private key and the kid of its published public key. */
export interface NamedKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

const FIVE_SEGMENTS = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){4}$/;
const OUTER_MEMBERS = new Set(["alg", "enc", "kid", "cty", "typ"]);

/** Signs the claims (typ JWT) and encrypts the result to the recipient. */
export async function sealClaims(claims: JsonObject, signer: NamedKey, recipient: NamedKey): Promise<string> {
  const signed = await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: SIGNATURE_ALG, typ: "JWT", kid: signer.kid })
    .sign(signer.key);
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
export async function openSealed(token: string, keys: readonly NamedKey[]): Promise<Verdict<string>> {
  if (token.length > MAX_JWT_CHARACTERS) return no("sealed token too long");
  if (!FIVE_SEGMENTS.test(token) || !token.split(".").every(isCanonicalBase64url)) {
    return no("not a compact JWE");
  }
  const header = outerHeader(token);
  if (!header.ok) return header;
  const candidate = keys.find(({ kid }) => kid === header.value["kid"]);
  if (candidate === undefined) return no("sealed to another key");
  try {
    const { plaintext } = await compactDecrypt(token, candidate.key, {
      keyManagementAlgorithms: [KEY_MANAGEMENT_ALG],
      contentEncryptionAlgorithms: [CONTENT_ENCRYPTION_ALG],
      maxDecompressedLength: 0,
    });
    const inner = utf8Text(plaintext);
    return inner === undefined ? no("plaintext is not UTF-8") : yes(inner);
  } catch (error) {
    return no(joseFailure(error));
  }
}

function outerHeader(token: string): Verdict<JsonObject> {
  const decoded = decodeObject(token.slice(0, token.indexOf(".")));
  if (!decoded.ok) return no(`outer header ${decoded.why}`);
  const header = decoded.value;
  const unknown = Object.keys(header).find((name) => !OUTER_MEMBERS.has(name));
  if (unknown !== undefined) return no(`outer header member ${unknown}`); // zip, crit, jwk, epk, p2c, apu ...
  if (header["alg"] !== KEY_MANAGEMENT_ALG || header["enc"] !== CONTENT_ENCRYPTION_ALG) {
    return no("outer alg or enc");
  }
  const cty = header["cty"];
  if (cty !== undefined && (typeof cty !== "string" || cty.toUpperCase() !== "JWT")) return no("outer cty");
  return yes(header);
}
