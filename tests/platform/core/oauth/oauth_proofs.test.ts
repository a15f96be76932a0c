/**
 * The `DPoP` header at the token endpoint (both grants) and PAR. `tests/attacks/jwt_*.test.ts` has the proofs that no
 * endpoint accepts. DPoP proofs at the token endpoint and PAR: once each, and what they bind (contract LT2, DP1 to
 * DP16).
 */
import { assertEquals } from "@std/assert";
import { proving } from "support/assertions.ts";
import { dpopKey } from "testing/flows.ts";
import { dpopProof, type JsonObject, seconds } from "testing/jwts.ts";
import {
  acceptedEverywhere,
  assertAccepted,
  assertRejected,
  clientCredentials,
  codeGrant,
  oauthEndpoints,
  pushing,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";
import { BASE_URL, throughProxy } from "testing/environment.ts";
import { rawJws } from "testing/raw_jws.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { testKey } from "testing/keys.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";

const REJECTED = [400, "invalid_dpop_proof"] as const;

test("POST token rejects a request without DPoP, with either grant [DP-N1, TA-N14, TC7] [FAPI-D10] [TC1] [TA1]", async ({ env, t }) => {
  const endpoints = [clientCredentials(env), codeGrant(env)];
  await rejectedEverywhere(t, env, REJECTED, { "no header": () => ({ proof: null }) }, endpoints);
});

test("POST par goes without DPoP [PA9]", async ({ env, t }) => {
  const endpoints = (await oauthEndpoints(env)).filter(({ name }) => name === "PAR");
  await acceptedEverywhere(t, env, { "no header": () => ({ proof: null }) }, endpoints);
});

test("POST token, par reject more than one DPoP header or value [DP-N2] [DP1]", async ({ env, t }) => {
  const key = await dpopKey();
  await rejectedEverywhere(t, env, REJECTED, {
    "one value twice": async ({ target }) => {
      const proof = await dpopProof(env, key, target);
      return { proof: `${proof}, ${proof}` };
    },
    "two values": async ({ target }) => ({
      proof: `${await dpopProof(env, key, target)},${await dpopProof(env, key, target)}`,
    }),
    "a value and nothing": async ({ target }) => ({ proof: `${await dpopProof(env, key, target)},` }),
    "an empty value [DP-N3]": () => ({ proof: "" }),
  });
  for (const endpoint of await oauthEndpoints(env)) {
    await t.step(`${endpoint.name}: two header fields`, async () => {
      await endpoint.ready();
      const request = await endpoint.request({ key });
      request.headers.append("DPoP", await dpopProof(env, key, endpoint.target));
      await assertRejected(env, REJECTED, () => env.api(request, env.tpp));
    });
  }
});

test("POST token binds to the same key however its JWK is ordered [DP13, FM5]", async ({ env }) => {
  const key = await dpopKey();
  const token = clientCredentials(env);
  const { kty, n, e } = key.publicJwk;
  for (const jwk of [{ kty, n, e }, { e, n, kty }, { use: "sig", n, kty, e }]) {
    const claims = { htm: "POST", htu: token.target.url, iat: seconds(env), jti: crypto.randomUUID() };
    const header = { typ: "dpop+jwt", alg: "PS256", jwk };
    const proof = await rawJws(await key.privateKey("sign"), header, claims);
    await assertAccepted(token, await token.send({ proof }));
  }
  const tokens = await env.store.list<{ jkt: string }>({ prefix: ["access_token"], limit: 10 });
  assertEquals(tokens.length, 3);
  assertEquals(new Set(tokens.map(({ value }) => value.jkt)).size, 1);
});

test("POST token, par take a proof whose htu lacks the request's query [DP-N11, DP9]", async ({ env, t }) => {
  await stepsOf(t, await oauthEndpoints(env), (endpoint) => endpoint.name, async (endpoint) => {
    await endpoint.ready();
    const good = await endpoint.request({ key: await dpopKey() });
    const request = new Request(`${good.url}?a=b`, good);
    await assertAccepted(endpoint, await env.api(request, env.tpp));
  });
});

test("POST token, par go by the configured URL, whatever host the request names [DP-N21, FAPI-G15, A6]", async ({ env, t }) => {
  for (const endpoint of await oauthEndpoints(env)) {
    const evil = endpoint.target.url.replace(BASE_URL, "https://evil.example");
    const sent = async (htu: string): Promise<Response> => {
      const { proof } = await proving(env, { htu })(endpoint);
      const headers = {
        host: "evil.example",
        "x-forwarded-host": "evil.example",
        forwarded: "host=evil.example",
      };
      const request = await endpoint.request({ proof, headers });
      return await env.platform.api.fetch(throughProxy(new Request(evil, request), env.tpp));
    };
    await t.step(`${endpoint.name}: proof for the other host`, async () => {
      await endpoint.ready();
      await assertRejected(env, REJECTED, () => sent(evil));
    });
    await t.step(`${endpoint.name}: proof for the platform`, async () => {
      await endpoint.ready();
      await assertAccepted(endpoint, await sent(endpoint.target.url));
    });
  }
});

test("POST token, par take a proof once, and a jti once per key [DP-N14]", async ({ env, t }) => {
  for (const endpoint of await oauthEndpoints(env)) {
    await t.step(`${endpoint.name}: the same proof`, async () => {
      const { proof } = await proving(env, {})(endpoint);
      await assertAccepted(endpoint, await endpoint.send({ proof }));
      await endpoint.ready();
      await assertRejected(env, REJECTED, () => endpoint.send({ proof }));
    });
    await t.step(`${endpoint.name}: the same jti, signed again`, async () => {
      const jti = crypto.randomUUID();
      await assertAccepted(endpoint, await endpoint.send(await proving(env, { jti })(endpoint)));
      env.now += 1000;
      await endpoint.ready();
      await assertRejected(env, REJECTED, async () => endpoint.send(await proving(env, { jti })(endpoint)));
    });
  }
  await t.step("the same jti at token and PAR", async () => {
    const [token, par] = [clientCredentials(env), await pushing(env)];
    const jti = crypto.randomUUID();
    await assertAccepted(token, await token.send(await proving(env, { jti })(token)));
    await assertRejected(env, REJECTED, async () => par.send(await proving(env, { jti })(par)));
  });
});

test("POST token, par remember a jti for 120 seconds, longer than a proof lives [DP-N14, J32, LT2]", async ({ env }) => {
  const token = clientCredentials(env);
  const jti = crypto.randomUUID();
  const { proof } = await proving(env, { jti, iat: seconds(env) + 30 })(token); // lives 90 s from now
  const began = env.now;
  await assertAccepted(token, await token.send({ proof }));
  for (const milliseconds of [30_000, 60_000, 89_000, 90_000, 90_999, 91_000, 119_999]) {
    env.now = began + milliseconds;
    await assertRejected(env, REJECTED, () => token.send({ proof }));
    await assertRejected(env, REJECTED, async () => token.send(await proving(env, { jti })(token)));
  }
  env.now = began + 120_000;
  await assertRejected(env, REJECTED, () => token.send({ proof }));
  await assertAccepted(token, await token.send(await proving(env, { jti })(token)));
});

test("POST token, par accept one jti under two keys and of two clients [DP-N15]", async ({ env }) => {
  const jti = crypto.randomUUID();
  const token = clientCredentials(env);
  for (const [client, number] of [[env.tpp, 9], [env.otherTpp, 10], [env.tpp, 11]] as const) {
    const proof = await dpopProof(env, await testKey(number), token.target, { claims: { jti } });
    await assertAccepted(token, await token.send({ client, proof }));
  }
});

test("POST token, par spend the proof of a request that they reject, and take a new one [DP-N22, DP16]", async ({ env }) => {
  for (const endpoint of [clientCredentials(env), await pushing(env)]) {
    const { proof } = await proving(env, {})(endpoint);
    await assertRejected(env, [400, "invalid_scope"], () => endpoint.send({ proof, form: { scope: "x" } }));
    await assertRejected(env, REJECTED, () => endpoint.send({ proof }));
    await assertAccepted(endpoint, await endpoint.send(await proving(env, {})(endpoint)));
  }
});

test("POST token, par remember no jti of a proof that did not hold, or came unauthenticated [DP16]", async ({ env }) => {
  for (const endpoint of await oauthEndpoints(env)) {
    const jti = crypto.randomUUID();
    await endpoint.ready();
    const wrong = await proving(env, { jti, htm: "PUT" })(endpoint);
    await assertRejected(env, REJECTED, () => endpoint.send(wrong));
    const { proof } = await proving(env, { jti })(endpoint);
    const form = { client_assertion: undefined };
    await assertRejected(env, [401, "invalid_client"], () => endpoint.send({ proof, form }));
    await assertAccepted(endpoint, await endpoint.send({ proof }));
  }
});

test("POST token binds the token to the proof's key [DP13, TC6]", async ({ env }) => {
  const token = clientCredentials(env);
  await assertAccepted(token, await token.send({ key: await testKey(10) }));
  const [entry] = await env.store.list<JsonObject>({ prefix: ["access_token"], limit: 2 });
  const { kty, n, e } = (await testKey(10)).publicJwk;
  assertEquals(entry?.value, {
    v: 1,
    clientId: env.tpp.clientId,
    registration: 1,
    bank: "BANKA",
    scope: "payments",
    grant: "client_credentials",
    jkt: await sha256(JSON.stringify({ e, kty, n })), // RFC 7638 §3: these members, in this order
    expiresAt: env.now + 3_600_000,
  });
});
