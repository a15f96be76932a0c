/** Shared by the tests of compact JWS: one signer, valid header and claims, and a helper that opens a JWS. */
import { assertEquals } from "@std/assert";
import {
  type HeaderRules,
  type JsonObject,
  readCompactJws,
  verifyClaims,
} from "../../../src/base/jose/compact_jws.ts";
import type { Result } from "../../../src/base/kernel/result.ts";
import { testKey } from "testing/keys.ts";
import { type Part, rawJws } from "testing/raw_jws.ts";

/** Rules that most JWTs of the platform use. */
export const RULES: HeaderRules = { maxCharacters: 8192, typ: [undefined, "JWT"] };
/** A good header. */
export const HEADER = { alg: "PS256", kid: "key-1", typ: "JWT" };
/** Good claims. */
export const CLAIMS = { iss: "client", exp: 1_700_000_060 };
/** The honest signer's key pair. */
export const signer = await testKey(0);
/** The honest signer's private key. */
export const signingKey: CryptoKey = await signer.privateKey("sign");
/** The honest signer's public key. */
export const verifyingKey: CryptoKey = await signer.publicKey("verify");

/** Reads and verifies, as every caller does. */
export async function opened(
  token: string,
  key: CryptoKey = verifyingKey,
  rules: HeaderRules = RULES,
): Promise<Result<JsonObject>> {
  const jws = readCompactJws(token, rules);
  return jws.ok ? await verifyClaims(jws.value, key) : jws;
}

/** A compact JWS by the honest signer over exactly this. */
export function signed(header: Part, claims: Part = CLAIMS): Promise<string> {
  return rawJws(signingKey, header, claims);
}

/** Fails unless the token is rejected without an exception. */
export async function assertRejected(token: string, what: string, rules: HeaderRules = RULES): Promise<void> {
  assertEquals((await opened(token, verifyingKey, rules)).ok, false, what);
}

/** The value of a successful result. */
export function okValue<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`rejected: ${result.fault.at}`);
  return result.value;
}
