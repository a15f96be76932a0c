/** The rules of PAR, PKCE, DPoP and RFC 9207 through `oauth4webapi`, with every URL from metadata. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as oauth from "oauth4webapi";
import { environmentFetch } from "support/public_clients.ts";
import { bodyOf, type TokenAnswer } from "testing/answers.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import {
  agreed,
  begin,
  checked,
  completed,
  openTpp,
  pay,
  redeem,
  redemptionRejected,
} from "./oauth4webapi_tpp.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";

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
