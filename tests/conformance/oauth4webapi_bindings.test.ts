import { assertEquals, assertRejects } from "@std/assert";
import * as oauth from "oauth4webapi";
import { consentBody } from "testing/flows.ts";
import { Browser } from "testing/authorization_flow.ts";
import { BASE_URL } from "testing/environment.ts";
import {
  agreed,
  begin,
  call,
  challenged,
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
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";

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
