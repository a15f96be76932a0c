/**
 * The `DPoP` header at the token endpoint (both grants) and PAR. `tests/attacks/jwt_*.test.ts` has the proofs that no
 * endpoint accepts.
 */
import { assertEquals } from "@std/assert";
import { proving } from "support/assertions.ts";
import { dpopKey } from "testing/flows.ts";
import { dpopProof, seconds } from "testing/jwts.ts";
import {
  acceptedEverywhere,
  assertAccepted,
  assertRejected,
  clientCredentials,
  codeGrant,
  oauthEndpoints,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";
import { BASE_URL, openEnvironment, throughProxy } from "testing/environment.ts";
import { rawJws } from "testing/raw_jws.ts";
import { stepsOf } from "support/steps.ts";

const REJECTED = [400, "invalid_dpop_proof"] as const;

Deno.test("POST token rejects a request without DPoP, with either grant [DP-N1, TA-N14, TC7] [FAPI-D10] [TC1] [TA1]", async (t) => {
  await using env = await openEnvironment();
  const endpoints = [clientCredentials(env), codeGrant(env)];
  await rejectedEverywhere(t, env, REJECTED, { "no header": () => ({ proof: null }) }, endpoints);
});

Deno.test("POST par goes without DPoP [PA9]", async (t) => {
  await using env = await openEnvironment();
  const endpoints = (await oauthEndpoints(env)).filter(({ name }) => name === "PAR");
  await acceptedEverywhere(t, env, { "no header": () => ({ proof: null }) }, endpoints);
});

Deno.test("POST token, par reject more than one DPoP header or value [DP-N2] [DP1]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("POST token binds to the same key however its JWK is ordered [DP13, FM5]", async () => {
  await using env = await openEnvironment();
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

Deno.test("POST token, par take a proof whose htu lacks the request's query [DP-N11, DP9]", async (t) => {
  await using env = await openEnvironment();
  await stepsOf(t, await oauthEndpoints(env), (endpoint) => endpoint.name, async (endpoint) => {
    await endpoint.ready();
    const good = await endpoint.request({ key: await dpopKey() });
    const request = new Request(`${good.url}?a=b`, good);
    await assertAccepted(endpoint, await env.api(request, env.tpp));
  });
});

Deno.test("POST token, par go by the configured URL, whatever host the request names [DP-N21, FAPI-G15, A6]", async (t) => {
  await using env = await openEnvironment();
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
