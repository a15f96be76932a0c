/**
 * The platform's own keys: which one signs, which are published, which open what banks send. A key with `nbf` is
 * published at once and used from then on; one with `exp` has a successor and is published until then. Private
 * members never leave this file.
 */
import { z } from "zod";
import { type Clock, systemClock, unixSeconds } from "../kernel/clock.ts";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../profile.ts";
import type { JsonObject } from "./compact_jws.ts";
import { readRsaPublicJwk } from "./rsa_key.ts";
import type { NamedKey } from "./sealed_jwt.ts";

/** The platform's keys, ready for use. Its parts are live: whoever keeps one sees the keys of the moment. */
export interface KeyRing {
  /** Signs hand-over JWTs, orders and answers. Its kid is the certificate's x5t (Decision A11). */
  readonly signer: NamedKey;
  /** Open what banks send: every key that is held, since any may have been published to them. */
  readonly decrypters: readonly NamedKey[];
  /** What `{auth_url}/jwks` serves: public members only, the keys in use first. */
  readonly publicJwks: { readonly keys: readonly JsonObject[] };
}

/** A key ring whose keys can be changed while it is in use. */
export interface RenewableKeyRing extends KeyRing {
  /** Takes a new set of keys in place of the old one, or throws as {@link openKeyRing} does and changes nothing. */
  renew(json: string): Promise<void>;
}

const text = z.string().min(1);
const unixTime = z.number().int().nonnegative();
const privateRsa = {
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
};
const signingKey = z.object({
  ...privateRsa,
  use: z.literal("sig"),
  x5c: z.array(text).min(1),
  "x5t": text,
  "x5t#S256": text,
});
const decryptionKey = z.object({ ...privateRsa, use: z.literal("enc") });
const keySet = z.object({ keys: z.array(z.discriminatedUnion("use", [signingKey, decryptionKey])).min(2) });

type PrivateJwk = z.infer<typeof signingKey> | z.infer<typeof decryptionKey>;

interface HeldKey {
  readonly jwk: PrivateJwk;
  readonly named: NamedKey;
}

const SIGN = { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 };
const DECRYPT = { name: "RSA-OAEP", hash: "SHA-256" };

/**
 * Reads `PLATFORM_KEYS`: a private JWK set with at least one `use: sig` and one `use: enc` key in use.
 *
 * @throws {Error} naming what is wrong, never a key's value
 */
export async function openKeyRing(json: string, clock: Clock = systemClock): Promise<RenewableKeyRing> {
  let held = await holdKeys(json, unixSeconds(clock()));
  const decrypters: NamedKey[] = namedKeys(held, "enc");
  const signing = withinTurn((): NamedKey => keyInUse(held, "sig", unixSeconds(clock())).named);
  return {
    signer: {
      get kid(): string {
        return signing().kid;
      },
      get key(): CryptoKey {
        return signing().key;
      },
    },
    decrypters,
    get publicJwks(): KeyRing["publicJwks"] {
      return { keys: published(held, unixSeconds(clock())).map(({ jwk }) => publicMembers(jwk)) };
    },
    async renew(json): Promise<void> {
      held = await holdKeys(json, unixSeconds(clock()));
      decrypters.splice(0, decrypters.length, ...namedKeys(held, "enc"));
    },
  };
}

// kid and key are read one after the other: within a turn both are the same key's, whatever the clock does.
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

async function holdKeys(json: string, now: number): Promise<readonly HeldKey[]> {
  const jwks = readKeySet(json);
  refuseDoubles(jwks);
  const held = await Promise.all(jwks.map(async (jwk) => ({ jwk, named: await importKey(jwk) })));
  keyInUse(held, "sig", now);
  keyInUse(held, "enc", now);
  return held;
}

/** The newest key whose time has come; the first of equals. Throws where there is none. */
function keyInUse(held: readonly HeldKey[], use: PrivateJwk["use"], now: number): HeldKey {
  const [newest] = held.filter(({ jwk }) => jwk.use === use && (jwk.nbf ?? 0) <= now)
    .sort((left, right) => (right.jwk.nbf ?? 0) - (left.jwk.nbf ?? 0));
  if (newest === undefined) throw new Error("needs a `use: sig` and a `use: enc` key whose nbf has passed");
  return newest;
}

/** Keys in use first: a bank that takes the first `enc` key takes that one. A key in use never goes missing. */
function published(held: readonly HeldKey[], now: number): HeldKey[] {
  const inUse = [keyInUse(held, "sig", now), keyInUse(held, "enc", now)];
  const others = held.filter((key) => !inUse.includes(key) && (key.jwk.exp ?? Infinity) > now);
  return [...inUse, ...others];
}

function namedKeys(held: readonly HeldKey[], use: PrivateJwk["use"]): NamedKey[] {
  return held.filter(({ jwk }) => jwk.use === use).map(({ named }) => named);
}

function readKeySet(json: string): PrivateJwk[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error("is not JSON");
  }
  const parsed = keySet.safeParse(value);
  if (parsed.success) return parsed.data.keys;
  const where = parsed.error.issues.map((issue) => issue.path.join(".") || "keys").join(", ");
  throw new Error(
    `is not a private JWK set with sig (kid, x5c, x5t, x5t#S256) and enc keys; look at: ${where}`,
  );
}

function refuseDoubles(jwks: readonly PrivateJwk[]): void {
  if (new Set(jwks.map(({ n }) => n)).size !== jwks.length) {
    throw new Error("uses one key for two purposes"); // FAPI 6.8-2
  }
  if (new Set(jwks.map(({ kid }) => kid)).size !== jwks.length) {
    throw new Error("names two keys by one kid"); // FAPI 5.4.3
  }
}

async function importKey(jwk: PrivateJwk): Promise<NamedKey> {
  const { kty, n, e, d, p, q, dp, dq, qi } = jwk;
  const judged = readRsaPublicJwk({ kty, n, e });
  if (!judged.ok) throw new Error(`holds a key that cannot be used (kid ${jwk.kid}): ${judged.why}`);
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
    // said below: WebCrypto's own words could quote a member
  }
  throw new Error(`holds a key whose private half is not its public half's (kid ${jwk.kid})`);
}

async function belongTogether(
  use: PrivateJwk["use"],
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

function publicMembers(jwk: PrivateJwk): JsonObject {
  const { kty, kid, n, e, use } = jwk;
  if (jwk.use === "enc") return { kty, kid, use, alg: KEY_MANAGEMENT_ALG, n, e };
  return { kty, kid, use, alg: SIGNATURE_ALG, n, e, x5c: jwk.x5c, x5t: jwk.x5t, "x5t#S256": jwk["x5t#S256"] };
}
