/** The rules of PAR, PKCE, DPoP and RFC 9207 through `oauth4webapi`, with every URL from metadata. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as oauth from "oauth4webapi";
import { environmentFetch } from "support/public_clients.ts";
import { bodyOf, type TokenAnswer } from "testing/answers.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import {
  agreed,
  begin,
  call,
  challenged,
  checked,
  completed,
  makeConsent,
  openTpp,
  ownToken,
  pay,
  push,
  redeem,
  redemptionRejected,
  rejected,
  type Tpp,
  withKey,
} from "./oauth4webapi_tpp.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { consentBody } from "testing/flows.ts";
import { Browser } from "testing/authorization_flow.ts";

Deno.test("oauth4webapi pays at both banks, from metadata to payment [AUT-01, MD-N7]", async (t) => {
  await stepsOf(t, ["bankA", "bankB"] as const, (bank) => bank, async (bank) => {
    await using env = await openEnvironment();
    const tpp = await openTpp(env, { bank: env[bank] });
    const callback = await completed(tpp);
    assertEquals([...callback.searchParams.keys()].sort(), ["code", "iss", "state"]);
  });
});

test("oauth4webapi reads a token that is bound to its key and nothing more [TC-N11, TC5]", async ({ env }) => {
  const tpp = await openTpp(env);
  const answer = await oauth.clientCredentialsGrantRequest(tpp.server, tpp.client, tpp.authenticate, {
    scope: "payments",
  }, { DPoP: tpp.dpop, [oauth.customFetch]: tpp.fetch });
  const sent = await bodyOf<TokenAnswer>(answer.clone());
  const { access_token: _, ...read } = await oauth.processClientCredentialsResponse(
    tpp.server,
    tpp.client,
    answer,
  );
  assertEquals([sent.token_type, read], ["DPoP", {
    token_type: "dpop",
    expires_in: 3600,
    scope: "payments",
  }]);
});

test("oauth4webapi rejects metadata of another issuer than it asked for [MD2]", async ({ env, t }) => {
  const asked = new URL(`${AUTH_URL}/BANKA`);
  const others = {
    "another bank": `${AUTH_URL}/BANKB`,
    "the host": AUTH_URL,
    "slash behind": `${AUTH_URL}/BANKA/`,
  };
  await steps(t, others, async (issuer) => {
    const answer = await discovered(env, asked);
    const error = await assertRejects(
      () => oauth.processDiscoveryResponse(new URL(issuer), answer),
      oauth.OperationProcessingError,
    );
    assertEquals(error.code, oauth.JSON_ATTRIBUTE_COMPARISON);
  });
  await t.step("its own", async () => {
    const { issuer } = await oauth.processDiscoveryResponse(asked, await discovered(env, asked));
    assertEquals(issuer, asked.href);
  });
});

test("oauth4webapi rejects a callback of another issuer, or of none [AZ-N14]", async ({ env }) => {
  const tpp = await openTpp(env);
  const journey = await begin(tpp);
  const callback = await agreed(tpp, journey);
  assertEquals(callback.searchParams.get("iss"), tpp.server.issuer);
  for (const iss of [`${AUTH_URL}/BANKB`, AUTH_URL, `${AUTH_URL}/BANKA/`, undefined]) {
    const url = new URL(callback);
    if (iss === undefined) url.searchParams.delete("iss");
    else url.searchParams.set("iss", iss);
    const error = assertThrows(() => checked(tpp, journey, url), oauth.OperationProcessingError);
    assertEquals(error.code, oauth.INVALID_RESPONSE, iss);
  }
  const elsewhere = await openTpp(env, { bank: env.bankB });
  assertThrows(() => checked(elsewhere, journey, callback), oauth.OperationProcessingError, "iss");
  assertEquals(checked(tpp, journey, callback).get("code"), callback.searchParams.get("code"));
});

test("oauth4webapi needs its own verifier for its code [TA-N9, TA-N10]", async ({ env }) => {
  const tpp = await openTpp(env);
  const journey = await begin(tpp);
  const callback = await agreed(tpp, journey);
  const verifier = oauth.generateRandomCodeVerifier();
  const bound = await redemptionRejected(
    tpp,
    () => redeem(tpp, journey, callback, { verifier: oauth.nopkce }),
  );
  assertEquals(bound, [400, "invalid_grant"]);
  assertEquals(await redemptionRejected(tpp, () => redeem(tpp, journey, callback, { verifier })), bound);
  const { access_token } = await redeem(tpp, journey, callback);
  await pay(tpp, journey, access_token);
});

function discovered(env: Environment, issuer: URL): Promise<Response> {
  return oauth.discoveryRequest(issuer, {
    algorithm: "oauth2",
    [oauth.customFetch]: environmentFetch(env, env.tpp),
  });
}

test("oauth4webapi pushes a request for a challenge by S256 alone [PA-N3, PA-N4]", async ({ env, t }) => {
  const tpp = await openTpp(env);
  const consentId = await makeConsent(tpp);
  const cases: Record<string, Record<string, string | undefined>> = {
    "no challenge [PAREnsurePKCERequired]": { code_challenge: undefined, code_challenge_method: undefined },
    "no method": { code_challenge_method: undefined },
    "plain [PAREnsurePlainPKCERejected]": { code_challenge_method: "plain" },
  };
  for (const [name, parameters] of Object.entries(cases)) {
    await t.step(
      name,
      () => rejected(tpp, () => push(tpp, consentId, { parameters }), 400, "invalid_request"),
    );
  }
});

test("oauth4webapi binds its code by proof, by dpop_jkt, or by both alike [PA-N10, TA-N12, TA-N13, TA-N18]", async ({ env, t }) => {
  const tpp = await openTpp(env);
  const jkt = await tpp.dpop.calculateThumbprint();
  const outsider = await withKey(tpp, 10);
  const bindings = {
    "a proof [EnsureDpopProofAtParEndpointBindingSuccess, EnsureTokenEndpointFailsWithMismatchedDpopProofJkt]":
      { proof: true },
    "dpop_jkt [EnsureDpopAuthCodeBindingSuccess, EnsureTokenEndpointFailsWithMismatchedDpopJkt]": {
      proof: false,
      parameters: { dpop_jkt: jkt },
    },
    "both": { proof: true, parameters: { dpop_jkt: jkt } },
  };
  await steps(t, bindings, async (binding) => {
    const journey = await begin(tpp, binding);
    const callback = await agreed(tpp, journey);
    const attempt = (): Promise<unknown> => redeem(outsider, journey, callback);
    assertEquals(await redemptionRejected(tpp, attempt), [400, "invalid_dpop_proof"]);
    await pay(tpp, journey, (await redeem(tpp, journey, callback)).access_token);
  });
  await t.step("two different ones [EnsureMismatchedDpopJktFails]", async () => {
    const parameters = { dpop_jkt: await outsider.dpop.calculateThumbprint() };
    const consentId = await makeConsent(tpp);
    await rejected(tpp, () => push(tpp, consentId, { parameters }), 400, "invalid_request");
  });
});

test("oauth4webapi uses its token with its key alone [DP-N17, RG-N2]", async ({ env }) => {
  const tpp = await openTpp(env);
  const token = await ownToken(tpp);
  const path = `domestic-payment-consents/v1/${await makeConsent(tpp)}`;
  const outsider = await withKey(tpp, 10);
  await challenged(() => call(outsider, token, path), "invalid_token");
  await challenged(
    () =>
      oauth.protectedResourceRequest(
        token,
        "GET",
        new URL(`${BASE_URL}/BANKA/${path}`),
        new Headers(),
        null,
        { [oauth.customFetch]: tpp.fetch }, // without a DPoP handle the library sends a bearer token
      ),
    undefined,
  );
  assertEquals((await call(tpp, token, path)).status, 200);
});

test("oauth4webapi cannot have the same request answered twice [CA-N17, DP-N14]", async ({ env, t }) => {
  const tpp = await openTpp(env);
  const again: Tpp = {
    ...tpp,
    fetch: async (url, init) => {
      await (await tpp.fetch(url, init)).body?.cancel();
      return await tpp.fetch(url, init);
    },
  };
  const consentId = await makeConsent(tpp);
  const token = await ownToken(tpp);
  const twice = async (attempt: () => Promise<unknown>): Promise<unknown> => {
    const error = await assertRejects(attempt, oauth.ResponseBodyError);
    return [error.status, error.error];
  };
  await t.step(
    "token",
    async () => assertEquals(await twice(() => ownToken(again)), [401, "invalid_client"]),
  );
  await t.step(
    "PAR",
    async () => assertEquals(await twice(() => push(again, consentId)), [401, "invalid_client"]),
  );
  await t.step(
    "resource",
    () =>
      challenged(() => call(again, token, `domestic-payment-consents/v1/${consentId}`), "invalid_dpop_proof"),
  );
});

test("oauth4webapi pushes for consents, scopes and URLs of its own alone [PA-N7, PA-N8, PA-N9]", async ({ env, t }) => {
  const tpp = await openTpp(env);
  const other = await openTpp(env, { me: env.otherTpp, key: 10 });
  const atBankB = await openTpp(env, { bank: env.bankB });
  const consentId = await makeConsent(tpp);
  const cases = {
    "an unregistered URL": [{ redirect_uri: `${env.tpp.redirectUris[0]}/x` }, "invalid_request"],
    "another client's URL": [{ redirect_uri: env.otherTpp.redirectUris[0] }, "invalid_request"],
    "another client's consent [EnsureServerHandlesNonMatchingIntentId]": [{
      consent_id: await makeConsent(other),
    }, "invalid_request"],
    "another bank's consent": [{ consent_id: await makeConsent(atBankB, consentBody()) }, "invalid_request"],
    "the banks' scope": [{ scope: "bank" }, "invalid_scope"],
  } as const;
  for (const [name, [parameters, code]] of Object.entries(cases)) {
    await t.step(name, () => rejected(tpp, () => push(tpp, consentId, { parameters }), 400, code));
  }
  const journey = await push(tpp, consentId);
  await t.step("another client opens its request", async () => {
    const url = new URL(journey.url);
    url.searchParams.set("client_id", other.client.client_id);
    const answer = await new Browser(env).open(url.href);
    assertEquals([answer.status, answer.headers.get("location")], [400, null]);
    await answer.body?.cancel();
  });
});
