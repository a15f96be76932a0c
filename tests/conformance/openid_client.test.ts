/** Payments through `openid-client`, which knows the platform by its metadata alone and checks what it is answered. */
import { assertEquals, assertRejects } from "@std/assert";
import * as client from "openid-client";
import { bodyOf, type Consent, type CreatedConsent } from "testing/answers.ts";
import { consentBody, DEBTOR_ACCOUNT, paymentBody, type SentConsent } from "testing/flows.ts";
import { testKey } from "testing/keys.ts";
import type { Participant } from "testing/participants.ts";
import { Browser, openHandover, returnPath } from "testing/authorization_flow.ts";
import {
  assertionKey,
  callbackOf,
  clockSkew,
  customerAgrees,
  environmentFetch,
  keyPair,
  signedHeaders,
} from "support/public_clients.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";

/** A TPP that uses the library at one bank. */
interface Tpp {
  readonly env: Environment;
  readonly bank: Participant;
  readonly config: client.Configuration;
  readonly DPoP: client.DPoPHandle;
}

/** An authorization that the customer has been sent to. */
interface Pending {
  readonly url: URL;
  readonly consentId: string;
  readonly body: SentConsent;
  readonly checks: client.AuthorizationCodeGrantChecks;
}

/** A TPP that has read the bank's metadata; `fetch` may come between. */
async function openTpp(
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

/** Makes a consent with a client credentials token, and pushes a request for it. */
async function begin(tpp: Tpp, body: SentConsent = consentBody()): Promise<Pending> {
  const { access_token } = await client.clientCredentialsGrant(tpp.config, { scope: "payments" }, tpp);
  const { status, json } = await post(tpp, access_token, "domestic-payment-consents/v1", body);
  assertEquals([status, json.Data.Status], [201, "AwaitingAuthorisation"]);
  const consentId = json.Data.ConsentId;
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const parameters = {
    redirect_uri: tpp.env.tpp.redirectUris[0] ?? "",
    scope: "payments",
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    consent_id: consentId,
    state: expectedState,
  };
  const url = await client.buildAuthorizationUrlWithPAR(tpp.config, parameters, tpp);
  return { url, consentId, body, checks: { pkceCodeVerifier, expectedState } };
}

/** A signed POST with a bound token. */
async function post(
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
    new URL(`${BASE_URL}/${tpp.bank.orgId}/${path}`),
    "POST",
    text,
    headers,
    tpp,
  );
  return { status: answer.status, json: await bodyOf<CreatedConsent>(answer) };
}

Deno.test("openid-client pays by each kind of consent, from metadata to status [AUT-01, MD-N7, HappyFlow]", async (t) => {
  const kinds = {
    "platform's screen": ["bankA", {}],
    "bank's screen": ["bankB", {}],
    "implicit": ["bankA", { DebtorAccount: DEBTOR_ACCOUNT }],
  } as const;
  await steps(t, kinds, async ([bank, initiation]) => {
    await using env = await openEnvironment();
    const tpp = await openTpp(env, env[bank]);
    const pending = await begin(tpp, consentBody({ initiation }));
    const callback = await customerAgrees(env, pending.url, { bank: tpp.bank, ...pending });
    const tokens = await client.authorizationCodeGrant(tpp.config, callback, pending.checks, undefined, tpp);
    const { access_token: _, ...rest } = tokens;
    assertEquals({ ...rest }, { token_type: "dpop", expires_in: 3600, scope: "payments" });
    const order = paymentBody(pending.consentId, pending.body);
    const made = await post(tpp, tokens.access_token, "domestic-payments/v1", order);
    assertEquals([made.status, made.json.Data.Status], [201, "AcceptedSettlementInProcess"]);
    const url = new URL(made.json.Links.Self);
    const read = await client.fetchProtectedResource(
      tpp.config,
      tokens.access_token,
      url,
      "GET",
      null,
      undefined,
      tpp,
    );
    assertEquals([read.status, (await bodyOf<Consent>(read)).Data.ConsentId], [200, pending.consentId]);
  });
});

test("openid-client finds what it needs in metadata and rejects another issuer's [MD2, MD-N7]", async ({ env }) => {
  const { config } = await openTpp(env);
  const server = config.serverMetadata();
  assertEquals(
    [server.issuer, server.supportsPKCE(), server.authorization_response_iss_parameter_supported],
    [`${AUTH_URL}/BANKA`, true, true],
  );
  const honest = environmentFetch(env, env.tpp);
  const swapped = (url: string, init: object): Promise<Response> =>
    honest(url.replace("BANKA", "BANKB"), init);
  const error = await assertRejects(() => openTpp(env, env.bankA, swapped), client.ClientError);
  assertEquals(error.code, "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED");
});

test("openid-client takes a callback by its own issuer with its own state alone [AZ-N14]", async ({ env, t }) => {
  const tpp = await openTpp(env);
  const pending = await begin(tpp);
  const callback = await customerAgrees(env, pending.url, { bank: tpp.bank, ...pending });
  const changed = (change: (query: URLSearchParams) => void): URL => {
    const url = new URL(callback);
    change(url.searchParams);
    return url;
  };
  const bad = {
    "iss of another bank": changed((query) => query.set("iss", `${AUTH_URL}/BANKB`)),
    "iss of the host": changed((query) => query.set("iss", AUTH_URL)),
    "no iss": changed((query) => query.delete("iss")),
    "another state": changed((query) => query.set("state", "another")),
    "no state": changed((query) => query.delete("state")),
    "two codes": changed((query) => query.append("code", "another")),
  };
  await steps(t, bad, async (url) => {
    const exchange = client.authorizationCodeGrant(tpp.config, url, pending.checks, undefined, tpp);
    const error = await assertRejects(() => exchange, client.ClientError);
    assertEquals(error.code, "OAUTH_INVALID_RESPONSE");
  });
  await t.step("as it came", async () => {
    await client.authorizationCodeGrant(tpp.config, callback, pending.checks, undefined, tpp);
  });
});

test("openid-client learns of a rejection in a callback that passes its checks [AZ-N13, UserRejectsAuthentication]", async ({ env }) => {
  const tpp = await openTpp(env);
  const pending = await begin(tpp);
  const browser = new Browser(env);
  const { claims } = await openHandover(tpp.bank, await browser.open(pending.url.href));
  const rejection = await returnPath(env, tpp.bank, claims, { claims: { status_code: "failure" } });
  const callback = callbackOf(await browser.open(rejection));
  const error = await assertRejects(
    () => client.authorizationCodeGrant(tpp.config, callback, pending.checks, undefined, tpp),
    client.AuthorizationResponseError,
  );
  assertEquals(error.error, "access_denied");
});
