/**
 * The keys that sign software statements. A next key is published before it signs, and a former key as long as its
 * statements may be presented. Private members never leave this file.
 */
import { z } from "zod";
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import {
  type HeldKey,
  holdKeys,
  keyOfTheMoment,
  newestInUse,
  parsePrivateKeySet,
  PRIVATE_RSA,
  type PrivateRsaJwk,
  type RsaJwk,
  TOKEN_RSA,
} from "../../base/jose/key_ring.ts";
import { jwkThumbprint } from "../../base/jose/rsa_key.ts";
import type { OwnKey, Token } from "../../base/jose/own_key.ts";
import { type Clock, unixSeconds } from "../../base/kernel/clock.ts";
import { SIGNATURE_ALG } from "../../base/limits.ts";
import { privateKeyDer } from "../keys/private_key_pem.ts";

/** The loaded keys. Reflects the current keys after a reload. */
export interface StatementKeys {
  readonly signer: OwnKey;
  /** The response of `/jwks`: public members only, the signing key first. */
  readonly publicJwks: { readonly keys: readonly JsonObject[] };
}

/** Keys that can be replaced while they are in use. */
export interface RenewableStatementKeys extends StatementKeys {
  /** Replaces the set. If it throws (as {@link openStatementKeys} does), the old set remains in use. */
  renew(json: string): Promise<void>;
}

const privateKeys = z.object({
  keys: z.array(z.object({ ...PRIVATE_RSA, use: z.literal("sig") })).min(1).max(20),
});
const tokenKeys = z.object({
  keys: z.array(z.object({ ...TOKEN_RSA, use: z.literal("sig") })).min(1).max(20),
});

/**
 * Opens a private JWK set, which `deno task directory-keys` creates.
 *
 * @param token has the private keys; then the set must have none
 * @throws {Error} with a message to be appended to the name of the variable or file; never quotes a key
 */
export async function openStatementKeys(
  json: string,
  clock: Clock,
  token?: Token,
): Promise<RenewableStatementKeys> {
  let held = await open(json, unixSeconds(clock()), token);
  const inUse = (): HeldKey => selectSigning(held, unixSeconds(clock()));
  return {
    signer: keyOfTheMoment(() => inUse().named),
    get publicJwks(): StatementKeys["publicJwks"] {
      const now = unixSeconds(clock());
      const others = held.filter((key) => key !== inUse() && (key.jwk.exp ?? Infinity) > now);
      return { keys: [inUse(), ...others].map(({ jwk }) => publicMembers(jwk)) };
    },
    async renew(json): Promise<void> {
      held = await open(json, unixSeconds(clock()), token);
    },
  };
}

/**
 * A PKCS 8 PEM as a private JWK. Its kid is its RFC 7638 thumbprint.
 *
 * @throws {Error} with a message to be appended to the name of the key; never quotes the text
 */
export async function statementJwk(pem: string): Promise<PrivateRsaJwk> {
  const algorithm = { name: "RSA-PSS", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("pkcs8", privateKeyDer(pem), algorithm, true, ["sign"]).catch(
    () => {
      throw new Error("private key is not RSA");
    },
  );
  const { n = "", e = "", d = "", p = "", q = "", dp = "", dq = "", qi = "" } = await crypto.subtle.exportKey(
    "jwk",
    key,
  );
  const kid = await jwkThumbprint({ kty: "RSA", n, e });
  return { kty: "RSA", use: "sig", kid, n, e, d, p, q, dp, dq, qi };
}

async function open(json: string, now: number, token: Token | undefined): Promise<readonly HeldKey[]> {
  const held: readonly HeldKey[] = token === undefined
    ? await holdKeys(parsePrivateKeySet(json, privateKeys, "a private JWK set of `use: sig` RSA keys"))
    : await holdKeys(parsePrivateKeySet(json, tokenKeys, "a JWK set of `use: sig` keys of a token"), token);
  for (const { jwk: { kid, n, e } } of held) {
    if (await jwkThumbprint({ kty: "RSA", n, e }) !== kid) {
      throw new Error(`names a key by a kid that is not its RFC 7638 thumbprint: ${kid}`);
    }
  }
  selectSigning(held, now);
  return held;
}

function selectSigning(held: readonly HeldKey[], now: number): HeldKey {
  const newest = newestInUse(held, now);
  if (newest === undefined) throw new Error("has no key whose nbf has passed");
  return newest;
}

function publicMembers({ kty, n, e, kid }: RsaJwk): JsonObject {
  return { kty, n, e, kid, use: "sig", alg: SIGNATURE_ALG };
}
