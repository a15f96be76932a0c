/** A fresh RSA key as `deno task directory-keys` writes it. */
import { calculateJwkThumbprint } from "jose";
import type { PrivateRsaJwk } from "../../../src/base/jose/private_keys.ts";
import { makePrivateJwk } from "../../testing/generate_keys.ts";

/** A private JWK for signatures. Its kid is its RFC 7638 thumbprint. */
export async function newStatementKey(bits: number): Promise<PrivateRsaJwk> {
  const jwk = await makePrivateJwk(bits);
  return { ...jwk, use: "sig", kid: await calculateJwkThumbprint({ kty: jwk.kty, n: jwk.n, e: jwk.e }) };
}
