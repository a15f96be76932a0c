/**
 * RSA keys for tests, from the shared pool that `scripts/testing/generate_keys.ts` makes; a missing pool is made on
 * first use. Key n is the same key in every file, so use a different n for each party of a test.
 */
import {
  type KeyPool,
  makeKeyPool,
  POOL_SIZE,
  type PrivateRsaJwk,
  readKeyPool,
  writeKeyPool,
} from "./generate_keys.ts";

/** The public members of a test key. */
export interface PublicRsaJwk {
  readonly kty: "RSA";
  readonly n: string;
  readonly e: string;
}

/** One key pair of the pool, imported on demand. */
export interface TestKey {
  readonly publicJwk: PublicRsaJwk;
  readonly privateJwk: PrivateRsaJwk;
  /** `sign`: RSA-PSS with SHA-256. `decrypt`: RSA-OAEP with SHA-256. */
  privateKey(use: "sign" | "decrypt"): Promise<CryptoKey>;
  /** `verify`: RSA-PSS with SHA-256. `encrypt`: RSA-OAEP with SHA-256. */
  publicKey(use: "verify" | "encrypt"): Promise<CryptoKey>;
}

const ALGORITHM = {
  sign: { name: "RSA-PSS", hash: "SHA-256" },
  verify: { name: "RSA-PSS", hash: "SHA-256" },
  decrypt: { name: "RSA-OAEP", hash: "SHA-256" },
  encrypt: { name: "RSA-OAEP", hash: "SHA-256" },
} as const;

let pool: Promise<KeyPool> | undefined;

/** The 2048-bit key of this number, from 0 to 15. */
export async function testKey(number: number): Promise<TestKey> {
  const jwk = (await openPool()).keys[number];
  if (jwk === undefined) throw new RangeError(`test keys have numbers from 0 to ${POOL_SIZE - 1}`);
  return asTestKey(jwk);
}

/** A 1024-bit key: too small for the platform. */
export async function smallTestKey(): Promise<TestKey> {
  return asTestKey((await openPool()).small);
}

/** A 3072-bit key: larger than usual and accepted. */
export async function largeTestKey(): Promise<TestKey> {
  return asTestKey((await openPool()).large);
}

function openPool(): Promise<KeyPool> {
  return pool ??= readOrMakePool();
}

async function readOrMakePool(): Promise<KeyPool> {
  const found = await readKeyPool();
  if (found !== undefined) return found;
  const made = await makeKeyPool();
  await writeKeyPool(made);
  return made;
}

/** A key that is not of the pool. */
export function asTestKey(privateJwk: PrivateRsaJwk): TestKey {
  const { kty, n, e } = privateJwk;
  const publicJwk = { kty, n, e };
  const imported = (jwk: JsonWebKey, use: keyof typeof ALGORITHM): Promise<CryptoKey> =>
    crypto.subtle.importKey("jwk", { ...jwk }, ALGORITHM[use], true, [use]);
  return {
    publicJwk,
    privateJwk,
    privateKey: (use): Promise<CryptoKey> => imported(privateJwk, use),
    publicKey: (use): Promise<CryptoKey> => imported(publicJwk, use),
  };
}
