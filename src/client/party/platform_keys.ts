/**
 * The platform's public keys from `{auth_url}/jwks` (Decision A11). They are cached, and fetched again if a JWT names
 * an unknown kid, at most once per cooldown, so that forged kids, which anyone can send, cause few requests to the
 * platform. If such a request fails, the cached keys stay in use.
 */
import { importJWK } from "jose";
import * as z from "zod/mini";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "./profile.ts";
import { UntrustedMessage } from "./errors.ts";
import type { Fetch } from "./http_request.ts";

/** A public key of the platform. */
export interface PlatformKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

/** The platform's key set as its parties use it. */
export interface PlatformKeys {
  /** The `sig` key with this kid, or undefined if the platform does not publish it. */
  readonly signatureKey: (kid: string) => Promise<CryptoKey | undefined>;
  /** The same for `jose`. @throws {UntrustedMessage} if the platform does not publish the key */
  readonly verificationKey: (header: { readonly kid?: string }) => Promise<CryptoKey>;
  /** The key for encrypting JWTs to the platform. */
  readonly encryptionKey: () => Promise<PlatformKey>;
}

export interface PlatformKeysDeps {
  readonly authUrl: string;
  readonly fetch: Fetch;
  readonly now: () => number;
}

const cacheMs = 300_000;
const cooldownMs = 30_000;

const jwkSchema = z.object({
  kty: z.literal("RSA"),
  kid: z.string().check(z.minLength(1)),
  use: z.enum(["sig", "enc"]),
  n: z.string(),
  e: z.string(),
});
const keySetSchema = z.object({ keys: z.array(z.unknown()).check(z.maxLength(64)) });

type PlatformJwk = z.infer<typeof jwkSchema>;

/** A key set that is loaded on first use. */
export function createPlatformKeys(deps: PlatformKeysDeps): PlatformKeys {
  const find = openKeySet(deps);

  async function signatureKey(kid: string): Promise<CryptoKey | undefined> {
    const jwk = await find((candidate) => candidate.use === "sig" && sameKid(candidate.kid, kid));
    return jwk === undefined ? undefined : await publicKey(jwk, SIGNATURE_ALG);
  }

  return {
    signatureKey,
    async verificationKey({ kid = "" }): Promise<CryptoKey> {
      const key = await signatureKey(kid);
      if (key === undefined) throw new UntrustedMessage("The kid of a signature is not the platform's");
      return key;
    },
    async encryptionKey(): Promise<PlatformKey> {
      const jwk = await find((candidate) => candidate.use === "enc");
      if (jwk === undefined) throw new UntrustedMessage("The platform publishes no encryption key");
      return { kid: jwk.kid, key: await publicKey(jwk, KEY_MANAGEMENT_ALG) };
    },
  };
}

type FindKey = (isWanted: (jwk: PlatformJwk) => boolean) => Promise<PlatformJwk | undefined>;

function openKeySet(deps: PlatformKeysDeps): FindKey {
  let cached: { readonly jwks: readonly PlatformJwk[]; readonly loadedAtMs: number } | undefined;
  let loading: Promise<readonly PlatformJwk[]> | undefined;
  /** The last request for an unknown kid, and its end. */
  let retried: { readonly jwks: Promise<readonly PlatformJwk[]>; readonly atMs: number } | undefined;

  async function load(): Promise<readonly PlatformJwk[]> {
    const loadedAtMs = deps.now();
    const jwks = await fetchJwks(deps);
    cached = { jwks, loadedAtMs };
    return jwks;
  }

  return async (isWanted) => {
    const isFresh = cached !== undefined && deps.now() - cached.loadedAtMs < cacheMs;
    const jwks = isFresh ? cached?.jwks : await (loading ??= load().finally(() => loading = undefined));
    const found = jwks?.find(isWanted);
    if (found !== undefined || !isFresh) return found;
    if (retried === undefined || deps.now() - retried.atMs >= cooldownMs) {
      retried = { jwks: load(), atMs: deps.now() };
    }
    return (await retried.jwks).find(isWanted);
  };
}

/** Compares two x5t kids and ignores trailing `=` (Decision A11). */
export function sameKid(left: string, right: string): boolean {
  return left.replace(/=+$/, "") === right.replace(/=+$/, "");
}

async function fetchJwks({ authUrl, fetch }: PlatformKeysDeps): Promise<readonly PlatformJwk[]> {
  const headers = { accept: "application/json" };
  const response = await fetch(`${authUrl}/jwks`, { method: "GET", headers });
  const body: unknown = await response.json();
  if (!response.ok) throw new UntrustedMessage(`${authUrl}/jwks answered ${response.status}`);
  return keySetSchema.parse(body).keys.flatMap((entry) => {
    const jwk = jwkSchema.safeParse(entry);
    return jwk.success ? [jwk.data] : []; // keys of other kinds are ignored
  });
}

async function publicKey({ kty, n, e }: PlatformJwk, alg: string): Promise<CryptoKey> {
  const key = await importJWK({ kty, n, e }, alg);
  if (key instanceof Uint8Array) throw new TypeError("an RSA key was expected");
  return key;
}
