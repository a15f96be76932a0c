/**
 * The platform's own keys: the signing key, the published keys, and the keys that decrypt result JWTs of banks. A key
 * with `nbf` is published at once and used from then on. A key with `exp` has a successor and is published until
 * then. Private members never leave this file. Keys in a
 * token have none.
 */
import { z } from "zod";
import { type Clock, systemClock, unixSeconds } from "../kernel/clock.ts";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../limits.ts";
import type { JsonObject } from "./compact_jws.ts";
import type { OwnKey, Token } from "./own_key.ts";
import {
  type HeldKey,
  holdKeys,
  keyOfTheMoment,
  newestInUse,
  parsePrivateKeySet,
  PRIVATE_RSA,
  TOKEN_RSA,
} from "./private_keys.ts";

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

const text = z.string().min(1);
const SIGNING = {
  use: z.literal("sig"),
  x5c: z.array(text).min(1),
  "x5t": text,
  "x5t#S256": text,
} as const;
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
      return { keys: published(held, unixSeconds(clock())).map(({ jwk }) => publicMembers(jwk)) };
    },
    get schedule(): KeyRing["schedule"] {
      return scheduled(held, unixSeconds(clock()));
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
function keyInUse(
  held: readonly HeldKey<OwnJwk>[],
  use: OwnJwk["use"],
  now: number,
): HeldKey<OwnJwk> {
  const newest = newestInUse(held.filter(({ jwk }) => jwk.use === use), now);
  if (newest === undefined) throw new Error("needs a `use: sig` and a `use: enc` key whose nbf has passed");
  return newest;
}

/**
 * Keys in use come first, because a bank may take the first `enc` key. A key in use is always published, even after
 * its `exp`.
 */
function published(held: readonly HeldKey<OwnJwk>[], now: number): HeldKey<OwnJwk>[] {
  const inUse = [keyInUse(held, "sig", now), keyInUse(held, "enc", now)];
  const others = held.filter((key) => !inUse.includes(key) && (key.jwk.exp ?? Infinity) > now);
  return [...inUse, ...others];
}

function scheduled(held: readonly HeldKey<OwnJwk>[], now: number): readonly ScheduledKey[] {
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
