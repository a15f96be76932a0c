/** A TPP that uses `openid-client` alone, at one bank of a test environment. */
import { assertEquals, assertRejects } from "@std/assert";
import type { WWWAuthenticateChallenge } from "oauth4webapi";
import * as client from "openid-client";
import { bodyOf, type CreatedConsent } from "testing/answers.ts";
import { consentBody, type SentConsent } from "testing/flows.ts";
import { testKey } from "testing/keys.ts";
import type { Participant } from "testing/participants.ts";
import { assertionKey, clockSkew, environmentFetch, keyPair, signedHeaders } from "support/public_clients.ts";
import { AUTH_URL, BASE_URL, type Environment } from "testing/environment.ts";

/** A TPP that uses the library at one bank. */
export interface Tpp {
  readonly env: Environment;
  readonly bank: Participant;
  readonly config: client.Configuration;
  readonly DPoP: client.DPoPHandle;
}

/** An authorization that the customer has been sent to. */
export interface Pending {
  readonly url: URL;
  readonly consentId: string;
  readonly body: SentConsent;
  readonly checks: client.AuthorizationCodeGrantChecks;
}

/** A TPP that has read the bank's metadata; `fetch` may come between. */
export async function openTpp(
  env: Environment,
  bank: Participant = env.bankA,
  fetch = environmentFetch(env, env.tpp),
): Promise<Tpp> {
  const config = await client.discovery(
    new URL(`${AUTH_URL}/${bank.orgId}`),
    env.tpp.clientId,
    { [client.clockSkew]: clockSkew(env) },
    client.PrivateKeyJwt(await assertionKey(env.tpp)),
    { algorithm: "oauth2", [client.customFetch]: fetch },
  );
  return { env, bank, config, DPoP: client.getDPoPHandle(config, await keyPair(await testKey(9))) };
}

/** A fresh consent, made with a client credentials token. */
export async function consent(tpp: Tpp, body: SentConsent = consentBody()): Promise<CreatedConsent["Data"]> {
  const { access_token } = await client.clientCredentialsGrant(tpp.config, { scope: "payments" }, tpp);
  const { status, json } = await post(tpp, access_token, "domestic-payment-consents/v1", body);
  assertEquals([status, json.Data.Status], [201, "AwaitingAuthorisation"]);
  return json.Data;
}

/** The parameters of a good authorization request, and what its answer is checked against. */
export async function requestOf(
  { env }: Tpp,
  consentId: string,
): Promise<{ parameters: Record<string, string>; checks: Pending["checks"] }> {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const parameters = {
    redirect_uri: env.tpp.redirectUris[0] ?? "",
    scope: "payments",
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    consent_id: consentId,
    state: expectedState,
  };
  return { parameters, checks: { pkceCodeVerifier, expectedState } };
}

/** Pushes a request for a fresh consent, good but for `changes`. */
export async function begin(
  tpp: Tpp,
  body: SentConsent = consentBody(),
  changes: Record<string, string | undefined> = {},
): Promise<Pending> {
  const consentId = (await consent(tpp, body)).ConsentId;
  const { parameters, checks } = await requestOf(tpp, consentId);
  const changed = Object.entries({ ...parameters, ...changes });
  const sent = Object.fromEntries(
    changed.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return { url: await client.buildAuthorizationUrlWithPAR(tpp.config, sent, tpp), consentId, body, checks };
}

/** The URL of a resource at the bank. */
export function resource({ bank }: Tpp, path: string): URL {
  return new URL(`${BASE_URL}/${bank.orgId}/${path}`);
}

/** A signed POST with a bound token. */
export async function post(
  tpp: Tpp,
  token: string,
  path: string,
  body: unknown,
): Promise<{ status: number; json: CreatedConsent }> {
  const text = JSON.stringify(body);
  const headers = await signedHeaders(tpp.env, tpp.env.tpp, text);
  const answer = await client.fetchProtectedResource(
    tpp.config,
    token,
    resource(tpp, path),
    "POST",
    text,
    headers,
    tpp,
  );
  return { status: answer.status, json: await bodyOf<CreatedConsent>(answer) };
}

/** That an OAuth endpoint rejects. */
export async function rejected(attempt: Promise<unknown>, code: string): Promise<void> {
  const error = await assertRejects(() => attempt, client.ResponseBodyError);
  assertEquals([error.status, error.error], [400, code]);
}

/** Status, scheme and error of the one challenge that a resource endpoint answers. */
export async function challengeOf(
  attempt: Promise<unknown>,
): Promise<readonly [number, string | undefined, string | undefined]> {
  const error = await assertRejects(() => attempt, client.WWWAuthenticateChallengeError);
  const [challenge, ...more]: WWWAuthenticateChallenge[] = error.cause;
  assertEquals(more, []);
  return [error.status, challenge?.scheme, challenge?.parameters["error"]];
}
