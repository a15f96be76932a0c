/** A fresh RSA key as `deno task directory-keys` writes it. */
import { calculateJwkThumbprint } from "jose";
import type { PrivateRsaJwk, RsaJwk } from "../../../src/base/jose/key_ring.ts";
import { makePrivateJwk } from "../../testing/generate_keys.ts";

/** A private JWK for signatures. */
export async function newStatementKey(bits: number): Promise<PrivateRsaJwk> {
  return await namedKey(await makePrivateJwk(bits));
}

/** A key for signatures. Its kid is its RFC 7638 thumbprint. */
export async function namedKey<Jwk extends Pick<RsaJwk, "kty" | "n" | "e">>(
  jwk: Jwk,
): Promise<Jwk & Pick<RsaJwk, "use" | "kid">> {
  return { ...jwk, use: "sig", kid: await calculateJwkThumbprint({ kty: jwk.kty, n: jwk.n, e: jwk.e }) };
}
