/**
 * Private RSA keys of a JWK set. A key with `nbf` is published at once and used from then on. A key with `exp` has a
 * successor and is published until then. Private members never leave this folder. A set of keys in a token has none.
 */
import { z } from "zod";
import { faultText } from "../kernel/result.ts";
import { readRsaPublicJwk } from "./rsa_key.ts";
import { decryptWith, type OwnKey, PS256, RSA_OAEP_256, signWith, type Token } from "./own_key.ts";

const text = z.string().min(1);
const unixTime = z.number().int().nonnegative();

const PUBLIC_RSA = {
  kty: z.literal("RSA"),
  kid: text,
  n: text,
  e: text,
  nbf: unixTime.optional(),
  exp: unixTime.optional(),
} as const;

/** Schema of the members of a private RSA key. */
export const PRIVATE_RSA = {
  ...PUBLIC_RSA,
  d: text,
  p: text,
  q: text,
  dp: text,
  dq: text,
  qi: text,
} as const;

/** Schema of the members of a key in a token. */
export const TOKEN_RSA = { ...PUBLIC_RSA, d: z.never().optional() } as const;

/** A key of a set. Times are Unix seconds. */
export interface RsaJwk {
  readonly kty: "RSA";
  readonly use: "sig" | "enc";
  readonly kid: string;
  readonly n: string;
  readonly e: string;
  readonly nbf?: number | undefined;
  readonly exp?: number | undefined;
}

/** A private key in a key file. */
export interface PrivateRsaJwk extends RsaJwk {
  readonly d: string;
  readonly p: string;
  readonly q: string;
  readonly dp: string;
  readonly dq: string;
  readonly qi: string;
}

/** A private key and its usable form. */
export interface HeldKey<Jwk extends RsaJwk = RsaJwk> {
  readonly jwk: Jwk;
  readonly named: OwnKey;
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

/**
 * Imports the keys of a set, or finds them in a token, and checks that each private key matches its public key.
 *
 * @throws {Error} that names the fault, never a key's value
 */
export async function holdKeys<Jwk extends RsaJwk>(
  jwks: readonly Jwk[],
  ...[token]: Jwk extends PrivateRsaJwk ? [token?: Token | undefined] : [token: Token]
): Promise<HeldKey<Jwk>[]> {
  rejectDoubles(jwks);
  return await Promise.all(jwks.map(async (jwk) => ({ jwk, named: await openKey(jwk, token) })));
}

/** Returns the newest key whose `nbf` has passed, the first of equals. `now` is in Unix seconds. */
export function newestInUse<Jwk extends RsaJwk>(
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
export function keyOfTheMoment(choose: () => OwnKey): OwnKey {
  const chosen = withinTurn(choose);
  return {
    get kid(): string {
      return chosen().kid;
    },
    get key(): OwnKey["key"] {
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

function rejectDoubles(jwks: readonly RsaJwk[]): void {
  if (new Set(jwks.map(({ n }) => n)).size !== jwks.length) {
    throw new Error("uses one key for two purposes"); // FAPI 2.0 §6.8 item 2
  }
  if (new Set(jwks.map(({ kid }) => kid)).size !== jwks.length) {
    throw new Error("names two keys by one kid"); // FAPI 2.0 §5.4.3
  }
}

async function openKey(jwk: RsaJwk, token: Token | undefined): Promise<OwnKey> {
  const { kty, kid, use, n, e } = jwk;
  const judged = readRsaPublicJwk({ kty, n, e });
  if (!judged.ok) {
    throw new Error(`holds a key that cannot be used (kid ${kid}): ${faultText(judged.fault)}`);
  }
  if (token !== undefined) {
    const key = token.key(kid);
    if (await belongTogether(jwk, key)) return { kid, key };
    throw new Error(`names a key that the token does not have (kid ${kid})`);
  }
  try {
    const { d, p, q, dp, dq, qi } = jwk as PrivateRsaJwk;
    const [algorithm, usage] = use === "sig" ? [PS256, "sign"] as const : [RSA_OAEP_256, "decrypt"] as const;
    const members = { kty, n, e, d, p, q, dp, dq, qi };
    const key = await crypto.subtle.importKey("jwk", members, algorithm, false, [usage]);
    if (await belongTogether(jwk, key)) return { kid, key };
  } catch {
    // reported below, because WebCrypto's message could quote a member
  }
  throw new Error(`holds a key whose private half is not its public half's (kid ${kid})`);
}

async function belongTogether({ kty, use, n, e }: RsaJwk, key: OwnKey["key"]): Promise<boolean> {
  const sample = crypto.getRandomValues(new Uint8Array(32));
  const [algorithm, usage] = use === "sig" ? [PS256, "verify"] as const : [RSA_OAEP_256, "encrypt"] as const;
  const publicKey = await crypto.subtle.importKey("jwk", { kty, n, e }, algorithm, false, [usage]);
  if (use === "sig") return await crypto.subtle.verify(PS256, publicKey, await signWith(key, sample), sample);
  const sealed = new Uint8Array(await crypto.subtle.encrypt(RSA_OAEP_256, publicKey, sample));
  return (await decryptWith(key, sealed))?.toHex() === sample.toHex();
}
