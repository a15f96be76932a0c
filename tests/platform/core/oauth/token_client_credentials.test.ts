/** `POST /{BANK}/token.oauth2/v1`, client credentials: grant, scope, and the token that comes back. */
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { authentication, call, clientToken, createConsent, requestToken } from "testing/flows.ts";
import { toBank } from "testing/authorization_flow.ts";
import {
  acceptedEverywhere,
  assertAccepted,
  assertRejected,
  clientCredentials,
  type Deviation,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";
import { BASE_URL } from "testing/environment.ts";
import { assertChallenge } from "testing/resource_answers.ts";
import { test } from "support/environment_test.ts";

test("POST token answers a DPoP token and nothing more [TC5, TC8, TC-N11, FAPI-D23, FAPI-D24]", async ({ env }) => {
  const response = await requestToken(env, env.tpp);
  const { access_token: token, ...rest } = await bodyOf(response);
  assertEquals(response.status, 200);
  assertEquals(rest, { token_type: "DPoP", expires_in: 3600, scope: "payments" });
  assertMatch(token, /^[A-Za-z0-9_-]{43}$/);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(response.headers.get("cache-control"), "no-store");
  const again = await clientToken(env, env.tpp);
  assertNotEquals(again.token, token);
});

test("POST token keeps neither token nor assertion in the store or the log [FAPI-G21]", async ({ env }) => {
  const form = await authentication(env, env.tpp, "BANKA");
  const { access_token: token } = await bodyOf(requestToken(env, env.tpp, "BANKA", { form }));
  const traces = JSON.stringify([await env.store.list({ prefix: [], limit: 1000 }), env.logged]);
  assertEquals([traces.includes(token), traces.includes(form["client_assertion"] ?? "")], [false, false]);
});

test("POST token gives a bank scope bank at its own address, whatever grants it registered [FAPI-D16, B1] [TC4]", async ({ env }) => {
  for (const bank of [env.bankA, env.bankB]) {
    const response = await requestToken(env, bank, bank.orgId);
    await assertAccepted(clientCredentials(env), response, "bank");
  }
});

test("POST token gives a bank no token for another bank's back channel [TC-N5, A3]", async ({ env }) => {
  for (const scope of ["bank", "payments", "bank payments"]) {
    await assertRejected(
      env,
      [400, "invalid_scope"],
      () => requestToken(env, env.bankB, "BANKA", { form: { scope } }),
    );
  }
  const { consentId } = await toBank(env);
  const own = await clientToken(env, env.bankB, "BANKB");
  const read = await call(env, env.bankB, own, `/BANKA/back-channel-auth/v1/${consentId}`);
  assertEquals(read.status, 401); // a token of bank B does not exist at bank A
});

test("POST token rejects a missing, empty or repeated grant_type [TC-N2]", async ({ env, t }) => {
  await rejectedEverywhere(t, env, [400, "invalid_request"], {
    "missing": () => ({ form: { grant_type: undefined } }),
    "empty": () => ({ form: { grant_type: "" } }),
    "twice": () => ({ body: (good) => `${good}&grant_type=client_credentials` }),
    "twice, different": () => ({ body: (good) => `${good}&grant_type=authorization_code` }),
  }, [clientCredentials(env)]);
});

test("POST token supports two grants only [TC-N3, TC2]", async ({ env, t }) => {
  const grants = [
    "password",
    "implicit",
    "refresh_token",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "urn:ietf:params:oauth:grant-type:token-exchange",
    "urn:openid:params:grant-type:ciba",
    "CLIENT_CREDENTIALS",
    "client_credentials ",
    "client_credentials authorization_code",
    "__proto__",
    'a"\\\r\n€',
  ];
  await rejectedEverywhere(
    t,
    env,
    [400, "unsupported_grant_type"],
    Object.fromEntries(
      grants.map((
        grant_type,
      ) => [grant_type, (): Deviation => ({ form: { grant_type, username: "u", password: "p" } })]),
    ),
    [clientCredentials(env)],
  );
});

test("POST token rejects every scope but the client's own [TC-N4, TC-N5]", async ({ env, t }) => {
  const wrong = {
    tpp: [
      undefined,
      "",
      " ",
      "bank",
      "openid payments",
      "payments admin",
      "payments bank",
      "Payments",
      "admin",
      "*",
      'x"\\\r\n€',
    ],
    bankA: [undefined, "", "payments", "bank payments", "openid bank", "BANK", "admin"],
  };
  for (const who of ["tpp", "bankA"] as const) {
    const client = env[who];
    await rejectedEverywhere(
      t,
      env,
      [400, "invalid_scope"],
      Object.fromEntries(
        wrong[who].map((scope) => [
          `${who}: ${scope === undefined ? "missing" : JSON.stringify(scope)}`,
          (): Deviation => ({ client, form: { scope } }),
        ]),
      ),
      [clientCredentials(env)],
    );
  }
});

test("POST token takes the scope as a set [TC3]", async ({ env, t }) => {
  await acceptedEverywhere(t, env, {
    "twice": () => ({ form: { scope: "payments payments" } }),
    "with spaces": () => ({ form: { scope: " payments  " } }),
  }, [clientCredentials(env)]);
});

test("POST token ignores parameters that it does not know [TC-N10, FAPI-G9]", async ({ env, t }) => {
  await acceptedEverywhere(t, env, {
    "foo=bar": () => ({ form: { foo: "bar" } }),
    "resource, audience, nonce": () => ({
      form: { resource: "https://x.example", audience: "x", nonce: "n" },
    }),
    "parameters of the other grant": () => ({ form: { code: "x", redirect_uri: "x", code_verifier: "x" } }),
    "many": () => ({ body: (good) => good + Array.from({ length: 500 }, (_, n) => `&p${n}=${n}`).join("") }),
  }, [clientCredentials(env)]);
});

test("POST token reads no parameter from the query [TC-N8]", async ({ env }) => {
  const token = clientCredentials(env);
  const good = await token.request();
  const query = await good.text();
  const sent = (body: string): Promise<Response> =>
    env.api(
      new Request(`${token.target.url}?${query}`, { method: "POST", headers: good.headers, body }),
      env.tpp,
    );
  await assertRejected(env, [400, "invalid_request"], () => sent(""));
  const clientId = `client_id=${env.tpp.clientId}`;
  await assertRejected(env, [401, "invalid_client"], () => sent(clientId));
  const withoutGrant = new URLSearchParams(query);
  withoutGrant.delete("grant_type");
  await assertRejected(env, [400, "invalid_request"], () => sent(withoutGrant.toString()));
  const misled = new Request(`${token.target.url}?scope=admin&grant_type=password`, await token.request());
  await assertAccepted(token, await env.api(misled, env.tpp));
});

test("POST token knows registered banks only, exactly as written [TC-N9, FAPI-G16, A4]", async ({ env, t }) => {
  const paths = [
    "NOBANK",
    "banka",
    "BankA",
    "B",
    "A%2F..%2FBANKA",
    "BANKA%20",
    "%20BANKA",
    "BANKA%00",
    "x".repeat(5000),
  ];
  for (const path of [...paths, env.tpp.orgId, env.bankA.clientId]) {
    await t.step(path.slice(0, 60), async () => {
      const good = await clientCredentials(env).request();
      const request = new Request(`${BASE_URL}/${path}/token.oauth2/v1`, good);
      await assertRejected(env, [404, "not_found"], () => env.api(request, env.tpp));
    });
  }
});

test("POST token issues tokens that live 3600 seconds [TC6, LT10]", async ({ env }) => {
  const { Data } = await createConsent(env, await clientToken(env, env.tpp));
  const path = `/BANKA/domestic-payment-consents/v1/${Data.ConsentId}`;
  const bound = await clientToken(env, env.tpp);
  const issuedAt = env.now;
  env.now = issuedAt + 3_599_999;
  assertEquals((await call(env, env.tpp, bound, path)).status, 200);
  env.now = issuedAt + 3_600_000;
  const late = await call(env, env.tpp, bound, path);
  await assertChallenge(late, 401, 'DPoP error="invalid_token", algs="PS256"');
});
