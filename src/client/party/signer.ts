/**
 * PS256 with a party's `sig` key, wherever the key is: in a PEM, a JWK, a CryptoKey, or behind a function of a KMS or
 * an HSM. Every JWT and payload signature of the library is made here.
 */
import { base64url, importJWK, importPKCS8, type JWK } from "jose";
import { SettingsError } from "./errors.ts";
import { SIGNATURE_ALG } from "./profile.ts";

/**
 * Returns the signature of RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes (RFC 7518 §3.5), such as
 * `RSASSA_PSS_SHA_256` of a KMS or `CKM_SHA256_RSA_PKCS_PSS` of an HSM.
 */
export type SignFunction = (data: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;

/** A private RSA key of at least 2048 bits: PKCS#8 PEM, JWK, CryptoKey for RSA-PSS with SHA-256, or a function that signs. */
export type SigningKey = string | JWK | CryptoKey | SignFunction;

/** A key that signs for a party. */
export interface Signer {
  /** `kid` of its public half in the party's key set (contract PN10). */
  readonly kid: string;
  readonly sign: SignFunction;
}

const MINIMUM_BITS = 2048;

/**
 * Makes a signer of a key in any form.
 *
 * @param kid of the public half in the party's key set
 * @throws {SettingsError} if the key cannot sign PS256
 * @example
 * ```ts
 * const signer = await openSigner("my-kid", async (data) => await kms.sign("RSASSA_PSS_SHA_256", data));
 * ```
 */
export async function openSigner(kid: string, key: SigningKey): Promise<Signer> {
  if (kid === "") throw new SettingsError("The signing key has no kid. Expected the one in your key set.");
  const sign = typeof key === "function" ? checkSignatures(kid, key) : signWith(await privateKey(kid, key));
  return { kid, sign };
}

/** A JWS in compact form over these claims. */
export async function signJwt(
  { kid, sign }: Signer,
  claims: object,
  header: Readonly<Record<string, unknown>> = { typ: "JWT" },
): Promise<string> {
  const input = `${encodeJson({ alg: SIGNATURE_ALG, ...header, kid })}.${encodeJson(claims)}`;
  return `${input}.${base64url.encode(await sign(bytes(input)))}`;
}

/** The signature over a payload that is sent by itself. `isRaw` (RFC 7797): the bytes themselves are signed. */
export async function signDetached(
  { sign }: Signer,
  header: object,
  payload: Uint8Array,
  isRaw: boolean,
): Promise<string> {
  const first = encodeJson(header);
  const rest = isRaw ? payload : bytes(base64url.encode(payload));
  const input = new Uint8Array(first.length + 1 + rest.length);
  input.set(bytes(`${first}.`));
  input.set(rest, first.length + 1);
  return `${first}..${base64url.encode(await sign(input))}`; // RFC 7515 App. F
}

function signWith(key: CryptoKey): SignFunction {
  return async (data) =>
    new Uint8Array(await crypto.subtle.sign({ name: "RSA-PSS", saltLength: 32 }, key, data));
}

/** A function that returns DER, base64 or nothing would otherwise fail at the platform without a hint. */
function checkSignatures(kid: string, sign: SignFunction): SignFunction {
  return async (data) => {
    const signature: unknown = await sign(data);
    if (signature instanceof Uint8Array && signature.length >= MINIMUM_BITS / 8) return signature;
    const got = signature instanceof Uint8Array ? `${signature.length} bytes` : typeof signature;
    throw new SettingsError(
      `The signing function of ${kid} returned ${got}. Expected the raw signature as a Uint8Array of at least ${
        MINIMUM_BITS / 8
      } bytes.`,
    );
  };
}

async function privateKey(kid: string, key: string | JWK | CryptoKey): Promise<CryptoKey> {
  const imported = await importedKey(key, SIGNATURE_ALG);
  if (imported !== undefined && canSign(imported)) return imported;
  throw new SettingsError(
    `The signing key ${kid} cannot sign ${SIGNATURE_ALG}. Expected a private RSA key of at least ${MINIMUM_BITS} bits: PKCS#8 PEM, JWK, or a CryptoKey for RSA-PSS with SHA-256.`,
  );
}

/** Returns the private key of a PEM or JWK, or undefined for what is none: an error's cause could quote the key. */
export async function importedKey(
  key: string | JWK | CryptoKey,
  alg: string,
): Promise<CryptoKey | undefined> {
  if (key instanceof CryptoKey) return key;
  try {
    const imported = typeof key === "string" ? await importPKCS8(key, alg) : await importJWK(key, alg);
    return imported instanceof CryptoKey ? imported : undefined;
  } catch {
    return undefined;
  }
}

function canSign({ type, usages, algorithm }: CryptoKey): boolean {
  const { name, hash, modulusLength } = algorithm as Partial<RsaHashedKeyAlgorithm>;
  return type === "private" && usages.includes("sign") && name === "RSA-PSS" && hash?.name === "SHA-256" &&
    (modulusLength ?? 0) >= MINIMUM_BITS;
}

function encodeJson(json: object): string {
  return base64url.encode(JSON.stringify(json));
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
