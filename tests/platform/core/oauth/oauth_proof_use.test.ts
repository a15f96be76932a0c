/** DPoP proofs at the token endpoint and PAR: once each, and what they bind (contract LT2, DP1 to DP16). */
import { assertEquals } from "@std/assert";
import { proving } from "support/assertions.ts";
import { dpopProof, type JsonObject, seconds, sha256 } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import {
  assertAccepted,
  assertRejected,
  clientCredentials,
  oauthEndpoints,
  pushing,
} from "testing/oauth_requests.ts";
import { openEnvironment } from "testing/environment.ts";

const REJECTED = [400, "invalid_dpop_proof"] as const;

Deno.test("POST token, par take a proof once, and a jti once per key [DP-N14]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("POST token, par remember a jti for 120 seconds, longer than a proof lives [DP-N14, J32, LT2]", async () => {
  await using env = await openEnvironment();
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

Deno.test("POST token, par accept one jti under two keys and of two clients [DP-N15]", async () => {
  await using env = await openEnvironment();
  const jti = crypto.randomUUID();
  const token = clientCredentials(env);
  for (const [client, number] of [[env.tpp, 9], [env.otherTpp, 10], [env.tpp, 11]] as const) {
    const proof = await dpopProof(env, await testKey(number), token.target, { claims: { jti } });
    await assertAccepted(token, await token.send({ client, proof }));
  }
});

Deno.test("POST token, par spend the proof of a request that they reject, and take a new one [DP-N22, DP16]", async () => {
  await using env = await openEnvironment();
  for (const endpoint of [clientCredentials(env), await pushing(env)]) {
    const { proof } = await proving(env, {})(endpoint);
    await assertRejected(env, [400, "invalid_scope"], () => endpoint.send({ proof, form: { scope: "x" } }));
    await assertRejected(env, REJECTED, () => endpoint.send({ proof }));
    await assertAccepted(endpoint, await endpoint.send(await proving(env, {})(endpoint)));
  }
});

Deno.test("POST token, par remember no jti of a proof that did not hold, or came unauthenticated [DP16]", async () => {
  await using env = await openEnvironment();
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

Deno.test("POST token binds the token to the proof's key [DP13, TC6]", async () => {
  await using env = await openEnvironment();
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
