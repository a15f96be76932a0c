/** JWTs as the platform signs them, and as it never would. */
import { base64url, CompactEncrypt, exportSPKI, importJWK, SignJWT } from "jose";
import type { JsonObject } from "../../../../src/base/jose/compact_jws.ts";
import type { BankBench } from "./bench.ts";
import { importPlatformKey, type PlatformJwk } from "./platform_side.ts";

/** Changes of a header or of claims: `undefined` removes a member. */
export type Changes = Readonly<Record<string, unknown>>;

const LIFETIME_SECONDS = 300;

/** The claims of a good handover JWT for a consent (contract HO1 to HO9). */
export function handoverClaims(
  { bank, platform: { endpoints, tpp } }: BankBench,
  consentId: string,
  changes: Changes = {},
): JsonObject {
  return changed({
    iss: endpoints.auth_url,
    aud: bank.code,
    ...times(),
    jti: crypto.randomUUID(),
    debtor_account_present: "false",
    ref_id: consentId,
    act: { sub: tpp.participant.orgName, registration_no: tpp.participant.clientId },
    correlation_id: crypto.randomUUID(),
  }, changes);
}

/** The claims with which a signed order comes again, newly dated and with a `jti` of its own. */
export function renewed(claims: JsonObject): JsonObject {
  return { ...claims, ...times(), jti: crypto.randomUUID() };
}

/** `iat`, `nbf` and `exp` of a JWT that is made so many seconds from now. */
export function times(fromNow = 0): { readonly iat: number; readonly nbf: number; readonly exp: number } {
  const iat = Math.floor(Date.now() / 1000) + fromNow;
  return { iat, nbf: iat, exp: iat + LIFETIME_SECONDS };
}

/** Signs with the key that signs for the platform now, or another one of its keys. */
export async function signed(
  { platform: { signer: current } }: BankBench,
  claims: JsonObject,
  header: Changes = {},
  signer: PlatformJwk = current,
): Promise<string> {
  const alg = typeof header["alg"] === "string" ? header["alg"] : "PS256";
  return await new SignJWT(claims)
    .setProtectedHeader({ ...changed({ typ: "JWT", kid: signer.kid }, header), alg })
    .sign(await importPlatformKey(signer, alg));
}

/** No signature: `alg` is `none`. */
export function unsigned({ platform: { signer } }: BankBench, claims: JsonObject): string {
  return `${encoded({ alg: "none", typ: "JWT", kid: signer.kid })}.${encoded(claims)}.`;
}

/** Signed by the platform, and changed after that. */
export async function altered(bench: BankBench, claims: JsonObject, changes: Changes): Promise<string> {
  const [header, , signature] = (await signed(bench, claims)).split(".");
  return `${header}.${encoded(changed(claims, changes))}.${signature}`;
}

/** Signed by a key that the JWT itself brings. */
export async function signedByStranger(claims: JsonObject): Promise<string> {
  const pair = await crypto.subtle.generateKey(
    { name: "RSA-PSS", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
    true,
    ["sign", "verify"],
  );
  const { kty = "", n = "", e = "" } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: "PS256", typ: "JWT", kid: "stranger", jwk: { kty, n, e } })
    .sign(pair.privateKey);
}

/** Algorithm confusion: HMAC with the platform's public key as its secret, in PEM as libraries write it. */
export async function signedByPublicKey(
  { platform: { signer } }: BankBench,
  claims: JsonObject,
): Promise<string> {
  const { kty = "", n, e = "" } = signer;
  const key = await importJWK({ kty, n, e }, "PS256", { extractable: true });
  if (key instanceof Uint8Array) throw new TypeError("an RSA key was expected");
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256", typ: "JWT", kid: signer.kid })
    .sign(new TextEncoder().encode(await exportSPKI(key)));
}

/** Signed by the platform's key for decryption, under its own kid. */
export async function signedByEncryptionKey(
  { platform: { decrypters: [key] } }: BankBench,
  claims: JsonObject,
): Promise<string> {
  if (key === undefined) throw new Error("the platform has no key for decryption");
  return await new SignJWT(claims).setProtectedHeader({ alg: "PS256", typ: "JWT", kid: key.kid })
    .sign(await importPlatformKey(key, "PS256"));
}

/** Encrypts to the bank. */
export async function sealed(
  { bank: { sealTo } }: BankBench,
  content: string,
  alg = "RSA-OAEP-256",
): Promise<string> {
  const { kty = "", n = "", e = "", kid = "" } = sealTo;
  const key = await importJWK({ kty, n, e }, alg);
  return await new CompactEncrypt(new TextEncoder().encode(content))
    .setProtectedHeader({ alg, enc: "A256GCM", cty: "JWT", kid }).encrypt(key);
}

function changed(members: JsonObject, changes: Changes): JsonObject {
  return Object.fromEntries(
    Object.entries({ ...members, ...changes }).filter(([, value]) => value !== undefined),
  );
}

function encoded(value: unknown): string {
  return base64url.encode(JSON.stringify(value));
}
