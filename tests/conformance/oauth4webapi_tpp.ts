/** A TPP that uses `oauth4webapi` alone, at one bank of a test environment; each step can be changed. */
import { assertEquals, assertRejects } from "@std/assert";
import * as oauth from "oauth4webapi";
import type { CreatedConsent, Payment } from "testing/answers.ts";
import { consentBody, paymentBody, type SentConsent } from "testing/flows.ts";
import { testKey } from "testing/keys.ts";
import type { Participant } from "testing/participants.ts";
import {
  assertionKey,
  clockSkew,
  customerAgrees,
  environmentFetch,
  keyPair,
  signedHeaders,
} from "support/public_clients.ts";
import { AUTH_URL, BASE_URL, type Environment } from "testing/environment.ts";

/** A client of the library. */
export interface Tpp {
  readonly env: Environment;
  readonly me: Participant;
  readonly bank: Participant;
  /** Number of the DPoP key in the pool. */
  readonly key: number;
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly authenticate: oauth.ClientAuth;
  readonly dpop: oauth.DPoPHandle;
  readonly fetch: ReturnType<typeof environmentFetch>;
}

/** An authorization between PAR and code. */
export interface Journey {
  readonly consentId: string;
  readonly body: SentConsent;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly verifier: string;
  readonly requestUri: string;
  /** With `client_id` and `request_uri` alone. */
  readonly url: URL;
}

/** A way of differing from a good pushed request. */
export interface PushChanges {
  readonly parameters?: Readonly<Record<string, string | undefined>>;
  /** Sends a `DPoP` header; `dpop_jkt` is a parameter. */
  readonly proof?: boolean;
}

/** A TPP that has read the bank's metadata, bound to a pool key. */
export async function openTpp(
  env: Environment,
  { me = env.tpp, bank = env.bankA, key = 9 }: { me?: Participant; bank?: Participant; key?: number } = {},
): Promise<Tpp> {
  const fetch = environmentFetch(env, me);
  const issuer = new URL(`${AUTH_URL}/${bank.orgId}`);
  const answer = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", [oauth.customFetch]: fetch });
  const server = await oauth.processDiscoveryResponse(issuer, answer);
  const client: oauth.Client = { client_id: me.clientId, [oauth.clockSkew]: clockSkew(env) };
  const authenticate = oauth.PrivateKeyJwt(await assertionKey(me));
  const dpop = oauth.DPoP(client, await keyPair(await testKey(key)));
  return { env, me, bank, key, server, client, authenticate, dpop, fetch };
}

/** The same TPP with another DPoP key. */
export async function withKey(tpp: Tpp, key: number): Promise<Tpp> {
  return { ...tpp, key, dpop: oauth.DPoP(tpp.client, await keyPair(await testKey(key))) };
}

/** A client credentials token. */
export async function ownToken(tpp: Tpp): Promise<string> {
  const { server, client, authenticate } = tpp;
  const parameters = { scope: "payments" };
  const answer = await oauth.clientCredentialsGrantRequest(server, client, authenticate, parameters, {
    DPoP: tpp.dpop,
    [oauth.customFetch]: tpp.fetch,
  });
  return (await oauth.processClientCredentialsResponse(server, client, answer)).access_token;
}

/** Makes a consent; gives its id. */
export async function makeConsent(tpp: Tpp, body: SentConsent = consentBody()): Promise<string> {
  const answer = await call(tpp, await ownToken(tpp), "domestic-payment-consents/v1", { body });
  const text = await answer.text();
  assertEquals(answer.status, 201, text);
  return (JSON.parse(text) as CreatedConsent).Data.ConsentId;
}

/** Pushes a request for a consent. @throws {oauth.ResponseBodyError} where it is rejected */
export async function push(
  tpp: Tpp,
  consentId: string,
  { parameters: changes = {}, proof = true }: PushChanges = {},
): Promise<Journey> {
  const { server, client, authenticate } = tpp;
  const verifier = oauth.generateRandomCodeVerifier();
  const good: Record<string, string | undefined> = {
    response_type: "code",
    redirect_uri: tpp.me.redirectUris[0],
    scope: "payments",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    consent_id: consentId,
    state: oauth.generateRandomState(),
    ...changes,
  };
  const sent = Object.entries(good).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const parameters = new URLSearchParams(sent);
  const answer = await oauth.pushedAuthorizationRequest(server, client, authenticate, parameters, {
    ...(proof ? { DPoP: tpp.dpop } : {}),
    [oauth.customFetch]: tpp.fetch,
  });
  const pushed = await oauth.processPushedAuthorizationResponse(server, client, answer);
  const url = new URL(server.authorization_endpoint ?? "");
  url.searchParams.set("client_id", client.client_id);
  url.searchParams.set("request_uri", pushed.request_uri);
  return {
    consentId,
    body: consentBody(),
    redirectUri: good["redirect_uri"] ?? "",
    state: good["state"],
    verifier,
    requestUri: pushed.request_uri,
    url,
  };
}

/** Pushes a request for a fresh consent. @throws {oauth.ResponseBodyError} where it is rejected */
export async function begin(tpp: Tpp, changes: PushChanges = {}): Promise<Journey> {
  return await push(tpp, await makeConsent(tpp), changes);
}

/** The customer agrees; gives the URL that the browser comes back to. */
export function agreed(tpp: Tpp, journey: Journey, url: URL = journey.url): Promise<URL> {
  return customerAgrees(tpp.env, url, { bank: tpp.bank, consentId: journey.consentId });
}

/** Checks the callback. @throws where it is not this journey's (RFC 9207, state) */
export function checked(tpp: Tpp, journey: Journey, callback: URL): URLSearchParams {
  return oauth.validateAuthResponse(tpp.server, tpp.client, callback, journey.state ?? oauth.expectNoState);
}

/** Exchanges the code. @throws {oauth.ResponseBodyError} where it is rejected */
export async function redeem(
  tpp: Tpp,
  journey: Journey,
  callback: URL,
  { verifier = journey.verifier, redirectUri = journey.redirectUri, proof = true }: {
    verifier?: string | typeof oauth.nopkce;
    redirectUri?: string;
    proof?: boolean;
  } = {},
): Promise<oauth.TokenEndpointResponse> {
  const { server, client, authenticate } = tpp;
  const parameters = checked(tpp, journey, callback);
  const options = { ...(proof ? { DPoP: tpp.dpop } : {}), [oauth.customFetch]: tpp.fetch };
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authenticate,
    parameters,
    redirectUri,
    verifier,
    options,
  );
  return await oauth.processAuthorizationCodeResponse(server, client, answer);
}

/** A call of a resource; a body is signed. @throws {oauth.WWWAuthenticateChallengeError} on a challenge */
export async function call(
  tpp: Tpp,
  token: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Response> {
  const text = body === undefined ? null : JSON.stringify(body);
  const sent = text === null ? new Headers() : await signedHeaders(tpp.env, tpp.me, text);
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  const url = new URL(path.startsWith("https:") ? path : `${BASE_URL}/${tpp.bank.orgId}/${path}`);
  return await oauth.protectedResourceRequest(token, text === null ? "GET" : "POST", url, sent, text, {
    DPoP: tpp.dpop,
    [oauth.customFetch]: tpp.fetch,
  });
}

/** Submits the journey's payment; gives its representation. */
export async function pay(tpp: Tpp, journey: Journey, token: string): Promise<Payment> {
  const body = paymentBody(journey.consentId, journey.body);
  const answer = await call(tpp, token, "domestic-payments/v1", { body });
  const text = await answer.text();
  assertEquals(answer.status, 201, text);
  return JSON.parse(text) as Payment;
}

/** The whole journey from PAR to an accepted payment; gives the callback. */
export async function completed(tpp: Tpp, changes: PushChanges = {}): Promise<URL> {
  const journey = await begin(tpp, changes);
  const callback = await agreed(tpp, journey);
  const { access_token } = await redeem(tpp, journey, callback);
  assertEquals((await pay(tpp, journey, access_token)).Data.Status, "AcceptedSettlementInProcess");
  return callback;
}

/** Asserts that an OAuth endpoint rejects the request, and that no state changes. */
export async function rejected(
  tpp: Tpp,
  attempt: () => Promise<unknown>,
  status: number,
  code: string,
): Promise<void> {
  const before = await tpp.env.snapshot();
  const error = await assertRejects(attempt, oauth.ResponseBodyError);
  assertEquals([error.status, error.error], [status, code]);
  assertEquals(await tpp.env.snapshot(), before);
}

/** Status and code of a rejected redemption. Asserts that it changes only the code's count of failures. */
export async function redemptionRejected(tpp: Tpp, attempt: () => Promise<unknown>): Promise<unknown> {
  const others = async (): Promise<unknown> =>
    (await tpp.env.snapshot()).filter(({ key }) => key[0] !== "authorization_code");
  const before = await others();
  const error = await assertRejects(attempt, oauth.ResponseBodyError);
  assertEquals(await others(), before);
  return [error.status, error.error];
}

/** That a resource endpoint challenges with DPoP. */
export async function challenged(attempt: () => Promise<unknown>, code: string | undefined): Promise<void> {
  const error = await assertRejects(attempt, oauth.WWWAuthenticateChallengeError);
  const [challenge, ...more]: oauth.WWWAuthenticateChallenge[] = error.cause;
  // A caller with a proven certificate also reads an explanation (Decision G8).
  const { error_description: _, error_uri: __, ...parameters } = challenge?.parameters ?? {};
  assertEquals([error.status, challenge?.scheme, parameters, more], [
    401,
    "dpop",
    { ...(code === undefined ? {} : { error: code }), algs: "PS256" },
    [],
  ]);
}
