/**
 * The platform's own keys: the signing key, the published keys, and the keys that decrypt result JWTs of banks. A key
 * with `nbf` is published at once and used from then on. A key with `exp` has a successor and is published until
 * then. Private members never leave this file. Keys in a token
 * have none.
 */
import { z } from "zod";
import { type Clock, systemClock, unixSeconds } from "../kernel/clock.ts";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../limits.ts";
import type { JsonObject } from "./compact_jws.ts";
import { decryptWith, type OwnKey, PS256, RSA_OAEP_256, signWith, type Token } from "./own_key.ts";
import { faultText } from "../kernel/result.ts";
import { readRsaPublicJwk } from "./rsa_key.ts";

/** The platform's keys. Its properties are live: they return the keys that are current at each use. */
export interface KeyRing {
  /** Signs handover JWTs, payment orders and responses. Its kid is the certificate's x5t (Decision A11). */
  readonly signer: OwnKey;
  /** Decrypt what banks send: all loaded keys, because a bank may still use any that was published. */
  readonly decrypters: readonly OwnKey[];
  /** The keys of `{auth_url}/jwks`: public members only, the keys in use first. */
  readonly publicJwks: { readonly keys: readonly JsonObject[] };
  /** Every key of the file, also those that are not published any more. */
  readonly schedule: readonly ScheduledKey[];
}

/**
 * - `next`: published, and used from its time on.
 * - `in_use`: signs, or is the one that banks encrypt to.
 * - `former`: published until its end. It decrypts.
 * - `ended`: not published any more. It decrypts until it leaves the file.
 */
export type KeyStage = "next" | "in_use" | "former" | "ended";

export interface ScheduledKey {
  readonly kid: string;
  readonly use: "sig" | "enc";
  readonly stage: KeyStage;
  /** Unix seconds. Absent for a key that was used from the start. */
  readonly usedFrom?: number | undefined;
  /** Unix seconds. Absent without a successor. */
  readonly publishedUntil?: number | undefined;
  /** The certificate of a signing key, DER in base64. */
  readonly certificate?: string | undefined;
}

/** A key ring whose keys can be changed while it is in use. */
export interface RenewableKeyRing extends KeyRing {
  /** Replaces the keys. Throws as {@link openKeyRing} does, and then the old keys stay in use. */
  renew(json: string): Promise<void>;
}

// Private RSA keys of a JWK set. A key with `nbf` is published at once and used from then on. A key with `exp` has a
// successor and is published until then. Private members never leave this folder. A set of keys in a token has none.

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

const SIGNING = { use: z.literal("sig"), x5c: z.array(text).min(1), "x5t": text, "x5t#S256": text } as const;
const DECRYPTION = { use: z.literal("enc") } as const;
const privateKey = z.discriminatedUnion("use", [
  z.object({ ...PRIVATE_RSA, ...SIGNING }),
  z.object({ ...PRIVATE_RSA, ...DECRYPTION }),
]);
const tokenKey = z.discriminatedUnion("use", [
  z.object({ ...TOKEN_RSA, ...SIGNING }),
  z.object({ ...TOKEN_RSA, ...DECRYPTION }),
]);
const privateKeys = z.object({ keys: z.array(privateKey).min(2) });
const tokenKeys = z.object({ keys: z.array(tokenKey).min(2) });

const MEMBERS = "with sig (kid, x5c, x5t, x5t#S256) and enc keys";

type OwnJwk = z.infer<typeof tokenKey> | z.infer<typeof privateKey>;

/**
 * Reads `PLATFORM_KEYS`: a private JWK set with at least one `use: sig` and one `use: enc` key in use.
 *
 * @param token has the private keys; then the set must have none
 * @throws {Error} that names the fault, never a key's value
 */
export async function openKeyRing(
  json: string,
  clock: Clock = systemClock,
  token?: Token,
): Promise<RenewableKeyRing> {
  let held = await openKeys(json, unixSeconds(clock()), token);
  const decrypters: OwnKey[] = namedKeys(held, "enc");
  return {
    signer: keyOfTheMoment(() => keyInUse(held, "sig", unixSeconds(clock())).named),
    decrypters,
    get publicJwks(): KeyRing["publicJwks"] {
      return { keys: selectPublished(held, unixSeconds(clock())).map(({ jwk }) => publicMembers(jwk)) };
    },
    get schedule(): KeyRing["schedule"] {
      return selectScheduled(held, unixSeconds(clock()));
    },
    async renew(json): Promise<void> {
      held = await openKeys(json, unixSeconds(clock()), token);
      decrypters.splice(0, decrypters.length, ...namedKeys(held, "enc"));
    },
  };
}

async function openKeys(
  json: string,
  now: number,
  token: Token | undefined,
): Promise<readonly HeldKey<OwnJwk>[]> {
  const held = token === undefined
    ? await holdKeys(parsePrivateKeySet(json, privateKeys, `a private JWK set ${MEMBERS}`))
    : await holdKeys(parsePrivateKeySet(json, tokenKeys, `a JWK set of a token ${MEMBERS}`), token);
  keyInUse(held, "sig", now);
  keyInUse(held, "enc", now);
  return held;
}

/**
 * Returns the newest key of a use.
 *
 * @throws {Error} if no key has this use
 */
function keyInUse(held: readonly HeldKey<OwnJwk>[], use: OwnJwk["use"], now: number): HeldKey<OwnJwk> {
  const newest = newestInUse(held.filter(({ jwk }) => jwk.use === use), now);
  if (newest === undefined) throw new Error("needs a `use: sig` and a `use: enc` key whose nbf has passed");
  return newest;
}

/**
 * Keys in use come first, because a bank may take the first `enc` key. A key in use is always published, even after
 * its `exp`.
 */
function selectPublished(held: readonly HeldKey<OwnJwk>[], now: number): HeldKey<OwnJwk>[] {
  const inUse = [keyInUse(held, "sig", now), keyInUse(held, "enc", now)];
  const others = held.filter((key) => !inUse.includes(key) && (key.jwk.exp ?? Infinity) > now);
  return [...inUse, ...others];
}

function selectScheduled(held: readonly HeldKey<OwnJwk>[], now: number): readonly ScheduledKey[] {
  const inUse = [keyInUse(held, "sig", now), keyInUse(held, "enc", now)];
  return held.map((key) => {
    const { kid, use, nbf: usedFrom, exp: publishedUntil } = key.jwk;
    const stage = inUse.includes(key)
      ? "in_use"
      : (usedFrom ?? 0) > now
      ? "next"
      : (publishedUntil ?? Infinity) > now
      ? "former"
      : "ended";
    const certificate = key.jwk.use === "sig" ? key.jwk.x5c[0] : undefined;
    return { kid, use, stage, usedFrom, publishedUntil, certificate };
  });
}

function namedKeys(held: readonly HeldKey<OwnJwk>[], use: OwnJwk["use"]): OwnKey[] {
  return held.filter(({ jwk }) => jwk.use === use).map(({ named }) => named);
}

function publicMembers(jwk: OwnJwk): JsonObject {
  const { kty, kid, n, e, use } = jwk;
  if (jwk.use === "enc") return { kty, kid, use, alg: KEY_MANAGEMENT_ALG, n, e };
  return { kty, kid, use, alg: SIGNATURE_ALG, n, e, x5c: jwk.x5c, x5t: jwk.x5t, "x5t#S256": jwk["x5t#S256"] };
}

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
