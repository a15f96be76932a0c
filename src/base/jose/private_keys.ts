/**
 * Private RSA keys of a JWK set. A key with `nbf` is published at once and used from then on. A key with `exp` has a
 * successor and is published until then. Private members never leave this folder.
 */
import { z } from "zod";
import { faultText } from "../kernel/result.ts";
import { readRsaPublicJwk } from "./rsa_key.ts";
import type { NamedKey } from "./sealed_jwt.ts";

const text = z.string().min(1);
const unixTime = z.number().int().nonnegative();

/** Schema of the members of a private RSA key. */
export const PRIVATE_RSA = {
  kty: z.literal("RSA"),
  kid: text,
  n: text,
  e: text,
  d: text,
  p: text,
  q: text,
  dp: text,
  dq: text,
  qi: text,
  nbf: unixTime.optional(),
  exp: unixTime.optional(),
} as const;

/** A private key in a key file. Times are Unix seconds. */
export interface PrivateRsaJwk {
  readonly kty: "RSA";
  readonly use: "sig" | "enc";
  readonly kid: string;
  readonly n: string;
  readonly e: string;
  readonly d: string;
  readonly p: string;
  readonly q: string;
  readonly dp: string;
  readonly dq: string;
  readonly qi: string;
  readonly nbf?: number | undefined;
  readonly exp?: number | undefined;
}

/** A private key and its imported form. */
export interface HeldKey<Jwk extends PrivateRsaJwk = PrivateRsaJwk> {
  readonly jwk: Jwk;
  readonly named: NamedKey;
}

/**
 * Parses a private JWK set.
 *
 * @param expected what the text must be, for the error
 * @throws {Error} that names the members that are wrong, never a key's value
 */
export function parsePrivateKeySet<Jwk>(
  json: string,
  schema: z.ZodType<{ readonly keys: readonly Jwk[] }>,
  expected: string,
): readonly Jwk[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error("is not JSON");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data.keys;
  const where = parsed.error.issues.map((issue) => issue.path.join(".") || "keys").join(", ");
  throw new Error(`is not ${expected}; look at: ${where}`);
}

const SIGN = { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 };
const DECRYPT = { name: "RSA-OAEP", hash: "SHA-256" };

/**
 * Imports the keys of a set and checks that each private key matches its public key.
 *
 * @throws {Error} that names the fault, never a key's value
 */
export async function holdKeys<Jwk extends PrivateRsaJwk>(jwks: readonly Jwk[]): Promise<HeldKey<Jwk>[]> {
  rejectDoubles(jwks);
  return await Promise.all(jwks.map(async (jwk) => ({ jwk, named: await importKey(jwk) })));
}

/** Returns the newest key whose `nbf` has passed, the first of equals. `now` is in Unix seconds. */
export function newestInUse<Jwk extends PrivateRsaJwk>(
  held: readonly HeldKey<Jwk>[],
  now: number,
): HeldKey<Jwk> | undefined {
  return held.filter(({ jwk }) => (jwk.nbf ?? 0) <= now)
    .sort((left, right) => (right.jwk.nbf ?? 0) - (left.jwk.nbf ?? 0))[0];
}

/**
 * Returns a named key that is chosen anew at each use. `kid` and `key` that are read in one turn of the event loop
 * belong together.
 */
export function keyOfTheMoment(choose: () => NamedKey): NamedKey {
  const chosen = withinTurn(choose);
  return {
    get kid(): string {
      return chosen().kid;
    },
    get key(): CryptoKey {
      return chosen().key;
    },
  };
}

function withinTurn<T>(choose: () => T): () => T {
  let chosen: T | undefined;
  return () => {
    if (chosen === undefined) {
      chosen = choose();
      queueMicrotask(() => void (chosen = undefined));
    }
    return chosen;
  };
}

function rejectDoubles(jwks: readonly PrivateRsaJwk[]): void {
  if (new Set(jwks.map(({ n }) => n)).size !== jwks.length) {
    throw new Error("uses one key for two purposes"); // FAPI 2.0 §6.8 item 2
  }
  if (new Set(jwks.map(({ kid }) => kid)).size !== jwks.length) {
    throw new Error("names two keys by one kid"); // FAPI 2.0 §5.4.3
  }
}

async function importKey(jwk: PrivateRsaJwk): Promise<NamedKey> {
  const { kty, n, e, d, p, q, dp, dq, qi } = jwk;
  const judged = readRsaPublicJwk({ kty, n, e });
  if (!judged.ok) {
    throw new Error(`holds a key that cannot be used (kid ${jwk.kid}): ${faultText(judged.fault)}`);
  }
  const [algorithm, usage, publicUsage] = jwk.use === "sig"
    ? [SIGN, "sign", "verify"] as const
    : [DECRYPT, "decrypt", "encrypt"] as const;
  try {
    const [key, publicKey] = await Promise.all([
      crypto.subtle.importKey("jwk", { kty, n, e, d, p, q, dp, dq, qi }, algorithm, false, [usage]),
      crypto.subtle.importKey("jwk", { kty, n, e }, algorithm, false, [publicUsage]),
    ]);
    if (await belongTogether(jwk.use, key, publicKey)) return { kid: jwk.kid, key };
  } catch {
    // reported below, because WebCrypto's message could quote a member
  }
  throw new Error(`holds a key whose private half is not its public half's (kid ${jwk.kid})`);
}

async function belongTogether(
  use: PrivateRsaJwk["use"],
  key: CryptoKey,
  publicKey: CryptoKey,
): Promise<boolean> {
  const sample = crypto.getRandomValues(new Uint8Array(32));
  if (use === "sig") {
    return await crypto.subtle.verify(SIGN, publicKey, await crypto.subtle.sign(SIGN, key, sample), sample);
  }
  const sealed = await crypto.subtle.encrypt(DECRYPT, publicKey, sample);
  return new Uint8Array(await crypto.subtle.decrypt(DECRYPT, key, sealed)).toHex() === sample.toHex();
}
