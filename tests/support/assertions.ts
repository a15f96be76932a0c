/**
 * Client assertions of the environment's TPP for bank A, made byte by byte if a JWT library would not write them; and
 * proofs.
 */
import { rawJws } from "testing/raw_jws.ts";
import { dpopKey } from "testing/flows.ts";
import { clientAssertion, dpopProof, type JsonObject, seconds, withChanges } from "testing/jwts.ts";
import type { TestKey } from "testing/keys.ts";
import type { OAuthEndpoint } from "testing/oauth_requests.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";

/** A deviation of a request: this assertion replaces the valid one. */
export interface WithAssertion {
  readonly form: { readonly client_assertion: string };
}

/** The claims of a good assertion. */
export function assertionClaims(env: Environment): JsonObject {
  const iat = seconds(env);
  const { clientId } = env.tpp;
  const aud = `${AUTH_URL}/BANKA`;
  return { iss: clientId, sub: clientId, aud, iat, nbf: iat, exp: iat + 60, jti: crypto.randomUUID() };
}

export function asAssertion(client_assertion: string): WithAssertion {
  return { form: { client_assertion } };
}

/** A good assertion with changed claims. */
export async function claiming(env: Environment, changes: JsonObject): Promise<WithAssertion> {
  return asAssertion(await clientAssertion(env, env.tpp, "BANKA", { claims: changes }));
}

/** Valid claims under any header, PS256 by this key. */
export async function headed(env: Environment, key: TestKey, header: JsonObject): Promise<WithAssertion> {
  const privateKey = await key.privateKey("sign");
  return asAssertion(await rawJws(privateKey, withChanges(header), assertionClaims(env)));
}

/** A deviation of a request: a DPoP proof for the endpoint with changed claims, by the flows' key. */
export function proving(
  env: Environment,
  claims: JsonObject,
): (endpoint: OAuthEndpoint) => Promise<{ readonly proof: string }> {
  return async ({ target }) => ({ proof: await dpopProof(env, await dpopKey(), target, { claims }) });
}
