/** DPoP proofs at the resource endpoints: needed, used once and bound to the token (contract DP1 to DP16). */
import { assertEquals } from "@std/assert";
import { bodyOf, type Consent } from "testing/answers.ts";
import { call, clientToken, consentBody } from "testing/flows.ts";
import { dpopProof } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { assertChallenge } from "testing/resource_answers.ts";
import { CONSENTS, type ResourceCall, resourceCalls } from "support/resource_calls.ts";
import { BASE_URL, type Environment, throughProxy } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const INVALID_PROOF = 'DPoP error="invalid_dpop_proof", algs="PS256"';
const INVALID_TOKEN = 'DPoP error="invalid_token", algs="PS256"';

/** A fresh good proof for the call. */
function proofFor(env: Environment, { method, url, bound }: ResourceCall, changes = {}): Promise<string> {
  return dpopProof(env, bound.key, { method, url, accessToken: bound.token }, changes);
}

test("GET domestic-payment-consents/{id} takes a proof whose htu lacks the request's query [DP-N11]", async ({ env }) => {
  const endpoint = (await resourceCalls(env)).find(({ name }) => name.endsWith("consents/{id}"));
  if (endpoint === undefined) throw new Error("no such endpoint");
  const { bound, path } = endpoint;
  const response = await call(env, env.tpp, bound, `${path}?x=1`, { proof: await proofFor(env, endpoint) });
  assertEquals(response.status, 200, await response.text());
});

test("resource endpoints want a proof that was not used before [DP-N1] [DP-N14] [RG-N6] [RP-N1] [PAY-05] [FAPI-D11] [DP12] [RS4]", async ({ env, t }) => {
  for (const endpoint of await resourceCalls(env)) {
    const step = async (name: string, proof: string | null, idempotencyKey: string): Promise<void> => {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        const response = await unchanged(env, () => endpoint.send({ proof, idempotencyKey }));
        await assertChallenge(response, 401, INVALID_PROOF);
      });
    };
    await step("no proof", null, "1");
    const [one, other] = [await proofFor(env, endpoint), await proofFor(env, endpoint)];
    await step("one proof twice in the header [DP-N2]", `${one}, ${one}`, "1");
    await step("two proofs in the header [DP-N2]", `${one},${other}`, "1");
    const jti = crypto.randomUUID();
    const used = await proofFor(env, endpoint, { claims: { jti } });
    await t.step(`${endpoint.name}: the first use is good`, async () => {
      const response = await endpoint.send({ proof: used, idempotencyKey: "1" });
      assertEquals(response.status, endpoint.status, await response.text());
    });
    await step("the same proof again", used, "2");
    await step("the same proof with the same idempotency key [DP-N23]", used, "1");
    await step("the same jti under a new signature", await proofFor(env, endpoint, { claims: { jti } }), "3");
    await t.step(`${endpoint.name}: a fresh proof is good again [DP-N23]`, async () => {
      const response = await endpoint.send({ idempotencyKey: "1" });
      assertEquals(response.status, endpoint.status, await response.text());
    });
  }
});

test("a proof used at one resource endpoint is used up for its jti at another [DP-N14]", async ({ env }) => {
  const [, consent, funds] = await resourceCalls(env);
  if (consent === undefined || funds === undefined) throw new Error("endpoints are missing");
  const claims = { jti: crypto.randomUUID() };
  assertEquals((await consent.send({ proof: await proofFor(env, consent, { claims }) })).status, 200);
  const again = await funds.send({ proof: await proofFor(env, funds, { claims }) });
  await assertChallenge(again, 401, INVALID_PROOF);
});

test("a jti is remembered for longer than its proof lives, and not for ever [DP-N14]", async ({ env }) => {
  const [, consent] = await resourceCalls(env);
  if (consent === undefined) throw new Error("endpoint is missing");
  const jti = crypto.randomUUID();
  const ahead = await proofFor(env, consent, { claims: { jti, iat: env.now / 1000 + 30 } });
  assertEquals((await consent.send({ proof: ahead })).status, 200);
  env.now += 90_000; // the last moment at which this proof's own times are good
  await assertChallenge(await consent.send({ proof: ahead }), 401, INVALID_PROOF);
  env.now += 29_999;
  await assertChallenge(
    await consent.send({ proof: await proofFor(env, consent, { claims: { jti } }) }),
    401,
    INVALID_PROOF,
  );
  env.now += 1;
  assertEquals(
    (await consent.send({ proof: await proofFor(env, consent, { claims: { jti } }) })).status,
    200,
  );
});

test("a rejected request uses its proof up as well [DP-N14]", async ({ env, t }) => {
  for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "POST")) {
    await t.step(endpoint.name, async () => {
      const proof = await proofFor(env, endpoint);
      assertEquals((await endpoint.send({ proof, signature: null })).status, 400);
      await assertChallenge(await endpoint.send({ proof }), 401, INVALID_PROOF);
    });
  }
});

test("the rejection of a used proof shows nothing of the answer whose place it takes [DP-N14]", async ({ env }) => {
  const [, consent] = await resourceCalls(env);
  if (consent === undefined) throw new Error("endpoint is missing");
  env.network = () => Promise.reject(new TypeError("connection refused"));
  env.now += 900_001; // the directory's keys are too old to go by
  const proof = await proofFor(env, consent);
  const first = await consent.send({ proof });
  assertEquals([first.status, first.headers.get("retry-after")], [503, "10"]);
  const second = await consent.send({ proof });
  assertEquals(second.headers.get("retry-after"), null);
  await assertChallenge(second, 401, INVALID_PROOF);
});

test("a jti of one key is not one of another [DP-N15]", async ({ env }) => {
  const claims = { jti: crypto.randomUUID() };
  for (const [caller, number] of [[env.tpp, 9], [env.otherTpp, 10]] as const) {
    const token = await clientToken(env, caller, "BANKA", await testKey(number));
    const response = await call(env, caller, token, CONSENTS, {
      body: JSON.stringify(consentBody()),
      proofChanges: { claims },
    });
    assertEquals(response.status, 201, await response.text());
  }
});

test("resource endpoints reject a good proof by another key than the token's [DP-N17] [DP-N18] [FAPI-D11]", async ({ env, t }) => {
  const mine = await clientToken(env, env.tpp, "BANKA", await testKey(9));
  const other = await clientToken(env, env.otherTpp, "BANKA", await testKey(10));
  for (const endpoint of await resourceCalls(env)) {
    const attempts = {
      "own token, a fresh key [DP-N17]": () =>
        endpoint.send({ token: { ...endpoint.bound, key: other.key } }),
      "another TPP's token, own key and certificate [DP-N18]": () =>
        endpoint.send({ token: { token: other.token, key: mine.key } }),
      "another TPP's token, own key, the other's certificate [DP-N18]": () =>
        endpoint.send({ token: { token: other.token, key: mine.key }, caller: env.otherTpp }),
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        await assertChallenge(await unchanged(env, attempt), 401, INVALID_TOKEN);
      });
    }
  }
});

test("resource endpoints go by the configured URL, whatever host the request names [DP-N21]", async ({ env, t }) => {
  for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "GET")) {
    const ask = async (htu: string): Promise<Response> => {
      const headers = {
        host: "evil.example",
        "x-forwarded-host": "evil.example",
        forwarded: "host=evil.example",
        authorization: `DPoP ${endpoint.bound.token}`,
        dpop: await proofFor(env, endpoint, { claims: { htu } }),
      };
      const request = new Request(`https://evil.example${endpoint.path}`, { headers });
      return await env.platform.api.fetch(throughProxy(request, env.tpp));
    };
    await t.step(`${endpoint.name}: proof for the evil host`, async () => {
      await assertChallenge(await ask(`https://evil.example${endpoint.path}`), 401, INVALID_PROOF);
    });
    await t.step(`${endpoint.name}: proof for the configured host`, async () => {
      const response = await ask(endpoint.url);
      assertEquals(response.status, 200);
      assertEquals((await bodyOf<Consent>(response)).Links.Self.startsWith(`${BASE_URL}/BANKA/`), true);
    });
  }
});

test("a proof's htu may escape each character that needs no escape, in either case, and no other, and has 2,048 characters at most [DP-N11]", async ({ env }) => {
  const [endpoint] = (await resourceCalls(env)).filter(({ method }) => method === "GET");
  if (endpoint === undefined) throw new Error("no GET");
  const escape = (part: RegExp, inCase: "toUpperCase" | "toLowerCase"): string =>
    BASE_URL + endpoint.url.slice(BASE_URL.length).replaceAll(
      part,
      (character) => `%${character.charCodeAt(0).toString(16)[inCase]()}`,
    );
  for (
    const [htu, expected] of [
      [escape(/[A-Za-z0-9._~-]/g, "toUpperCase"), 200],
      [escape(/[A-Za-z0-9._~-]/g, "toLowerCase"), 200],
      [escape(/\/(?!.*\/)/g, "toUpperCase"), 401],
      [`${endpoint.url}?`.padEnd(2048, "x"), 200],
      [`${endpoint.url}?`.padEnd(2049, "x"), 401],
    ] as const
  ) {
    const headers = {
      authorization: `DPoP ${endpoint.bound.token}`,
      dpop: await proofFor(env, endpoint, { claims: { htu } }),
    };
    const answer = await env.platform.api.fetch(
      throughProxy(new Request(endpoint.url, { headers }), env.tpp),
    );
    assertEquals(answer.status, expected, htu);
  }
});

test("resource endpoints take a new proof after the token was rejected [DP-N22]", async ({ env, t }) => {
  await stepsOf(t, await resourceCalls(env), (endpoint) => endpoint.name, async (endpoint) => {
    const wrong = await endpoint.send({ token: { ...endpoint.bound, token: "f".repeat(43) } });
    await assertChallenge(wrong, 401, INVALID_TOKEN);
    const response = await endpoint.send();
    assertEquals(response.status, endpoint.status, await response.text());
  });
});
