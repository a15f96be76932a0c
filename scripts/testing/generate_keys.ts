/**
 * Makes the pool of RSA keys that tests share (`.data/test-keys.json`, ignored by git): a key costs about 230 ms, and
 * hundreds of tests need one. The keys are for tests only. Run: `deno run --allow-read=.data --allow-write=.data`.
 */

/** Number of keys of the usual size. */
export const POOL_SIZE = 16;
export const POOL_FILE: URL = new URL("../../.data/test-keys.json", import.meta.url);

/** A private RSA key without `use` and `alg`, so that it can be imported for any use. */
export interface PrivateRsaJwk {
  readonly kty: "RSA";
  readonly n: string;
  readonly e: string;
  readonly d: string;
  readonly p: string;
  readonly q: string;
  readonly dp: string;
  readonly dq: string;
  readonly qi: string;
}

/** The pool as stored. */
export interface KeyPool {
  /** 2048 bits each. */
  readonly keys: readonly PrivateRsaJwk[];
  /** 1024 bits: too small for the platform. */
  readonly small: PrivateRsaJwk;
  /** 3072 bits: larger than usual and accepted. */
  readonly large: PrivateRsaJwk;
}

/** A fresh key pair as a private JWK. */
export async function makePrivateJwk(bits: number): Promise<PrivateRsaJwk> {
  const pair = await crypto.subtle.generateKey(
    { name: "RSA-PSS", modulusLength: bits, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
    true,
    ["sign", "verify"],
  );
  const { n, e, d, p, q, dp, dq, qi } = await crypto.subtle.exportKey("jwk", pair.privateKey);
  const members = { n, e, d, p, q, dp, dq, qi };
  if (Object.values(members).includes(undefined)) throw new Error("an RSA key without all its members");
  return { kty: "RSA", ...members } as PrivateRsaJwk;
}

/** Makes a whole pool, all keys in parallel. */
export async function makeKeyPool(): Promise<KeyPool> {
  const usual = Array.from({ length: POOL_SIZE }, () => makePrivateJwk(2048));
  const [small, large, keys] = await Promise.all([
    makePrivateJwk(1024),
    makePrivateJwk(3072),
    Promise.all(usual),
  ]);
  return { keys, small, large };
}

/** The pool in the file, or undefined if there is no valid one. */
export async function readKeyPool(): Promise<KeyPool | undefined> {
  try {
    const pool = JSON.parse(await Deno.readTextFile(POOL_FILE)) as KeyPool;
    return pool.keys.length === POOL_SIZE ? pool : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Writes the pool atomically, because several test processes may make one at the same time. */
export async function writeKeyPool(pool: KeyPool): Promise<void> {
  await Deno.mkdir(new URL(".", POOL_FILE), { recursive: true });
  const draft = new URL(`./test-keys.${crypto.randomUUID()}.json`, POOL_FILE);
  await Deno.writeTextFile(draft, JSON.stringify(pool), { mode: 0o600 });
  await Deno.rename(draft, POOL_FILE);
}

if (import.meta.main && await readKeyPool() === undefined) await writeKeyPool(await makeKeyPool());
