import { assertEquals } from "@std/assert";
import * as client from "openid-client";
import { paymentBody } from "testing/flows.ts";
import { Browser } from "testing/authorization_flow.ts";
import { testKey } from "testing/keys.ts";
import { assertionKey, customerAgrees, keyPair } from "support/public_clients.ts";
import { openEnvironment } from "testing/environment.ts";
import {
  begin,
  challengeOf,
  consent,
  openTpp,
  type Pending,
  post,
  rejected,
  requestOf,
  resource,
} from "./openid_client_tpp.ts";

Deno.test("openid-client gets no code without PKCE by S256, and no token without its verifier [PA-N3, PA-N4, TA-N9, TA-N10]", async (t) => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  await t.step("no challenge", async () => {
    const changes = { code_challenge: undefined, code_challenge_method: undefined };
    await rejected(begin(tpp, undefined, changes), "invalid_request");
  });
  await t.step("plain", async () => {
    const changes = { code_challenge: client.randomPKCECodeVerifier(), code_challenge_method: "plain" };
    await rejected(begin(tpp, undefined, changes), "invalid_request");
  });
  const pending = await begin(tpp);
  const callback = await customerAgrees(env, pending.url, { bank: tpp.bank, ...pending });
  const { expectedState } = pending.checks;
  for (const pkceCodeVerifier of [undefined, client.randomPKCECodeVerifier()]) {
    await t.step(pkceCodeVerifier === undefined ? "no verifier" : "another verifier", async () => {
      const checks = {
        expectedState,
        ...(pkceCodeVerifier === undefined ? {} : { pkceCodeVerifier }),
      } as Pending["checks"];
      const exchange = client.authorizationCodeGrant(tpp.config, callback, checks, undefined, tpp);
      await rejected(exchange, "invalid_grant");
    });
  }
  await t.step("the right verifier", async () => {
    await client.authorizationCodeGrant(tpp.config, callback, pending.checks, undefined, tpp);
  });
});

Deno.test("openid-client is bound to its DPoP key from PAR on [DP-N1, DP-N17, TA-N13, RG-N2]", async (t) => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const other = { DPoP: client.getDPoPHandle(tpp.config, await keyPair(await testKey(10))) };
  const pending = await begin(tpp);
  const callback = await customerAgrees(env, pending.url, { bank: tpp.bank, ...pending });
  for (const [name, options] of Object.entries({ "another key": other, "no proof": {} })) {
    await t.step(`code with ${name}`, async () => {
      const exchange = client.authorizationCodeGrant(
        tpp.config,
        callback,
        pending.checks,
        undefined,
        options,
      );
      await rejected(exchange, "invalid_dpop_proof");
    });
  }
  const { access_token } = await client.authorizationCodeGrant(
    tpp.config,
    callback,
    pending.checks,
    undefined,
    tpp,
  );
  const order = paymentBody(pending.consentId, pending.body);
  await t.step("token with another key", async () => {
    const attempt = post({ ...tpp, ...other }, access_token, "domestic-payments/v1", order);
    assertEquals(await challengeOf(attempt), [401, "dpop", "invalid_token"]);
  });
  await t.step("token as a bearer's", async () => {
    const attempt = client.fetchProtectedResource(
      tpp.config,
      access_token,
      resource(tpp, "domestic-payments/v1"),
      "POST",
    );
    assertEquals(await challengeOf(attempt), [401, "dpop", undefined]);
  });
  await t.step("token with its key", async () => {
    assertEquals((await post(tpp, access_token, "domestic-payments/v1", order)).status, 201);
  });
});

Deno.test("openid-client must push its authorization request, unsigned [AZ-N1, PA-N2]", async (t) => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const { parameters } = await requestOf(tpp, (await consent(tpp)).ConsentId);
  await t.step("in the URL", async () => {
    const answer = await new Browser(env).open(client.buildAuthorizationUrl(tpp.config, parameters).href);
    assertEquals([answer.status, answer.headers.get("location")], [400, null]);
    await answer.body?.cancel();
  });
  await t.step("in a request object", async () => {
    const { key } = await assertionKey(env.tpp);
    const url = await client.buildAuthorizationUrlWithJAR(tpp.config, parameters, key);
    const answer = await new Browser(env).open(url.href);
    assertEquals([answer.status, answer.headers.get("location")], [400, null]);
    await answer.body?.cancel();
    const request = url.searchParams.get("request") ?? "";
    await rejected(
      client.buildAuthorizationUrlWithPAR(tpp.config, { ...parameters, request }),
      "invalid_request",
    );
  });
  await t.step("pushed", async () => {
    const url = await client.buildAuthorizationUrlWithPAR(tpp.config, parameters, tpp);
    assertEquals([...url.searchParams.keys()].sort(), ["client_id", "request_uri"]);
    assertEquals((await new Browser(env).open(url.href)).status, 303);
  });
});
