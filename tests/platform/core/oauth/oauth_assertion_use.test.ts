/** Client assertions at the token endpoint and PAR: used once, by an active client, while they are fresh (contract LT1). */
import { asAssertion, claiming, headed, type WithAssertion } from "support/assertions.ts";
import { requestToken } from "testing/flows.ts";
import { clientAssertion, type JsonObject, seconds, signJwt } from "testing/jwts.ts";
import {
  assertAccepted,
  assertRejected,
  clientCredentials,
  oauthEndpoints,
  pushing,
} from "testing/oauth_requests.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;

Deno.test("POST token, par take an assertion once, wherever it is used again [CA-N17, CA16]", async (t) => {
  await using env = await openEnvironment();
  const endpoints = await oauthEndpoints(env);
  for (const first of endpoints) {
    await stepsOf(t, endpoints, (second) => `${first.name}, then ${second.name}`, async (second) => {
      const assertion = await claiming(env, {});
      await assertAccepted(first, await first.send(assertion));
      await second.ready();
      await assertRejected(env, UNAUTHENTICATED, () => second.send(assertion));
    });
  }
});

Deno.test("POST token rejects an assertion for bank A at bank B, used or not [CA-N17, J31]", async () => {
  await using env = await openEnvironment();
  const token = clientCredentials(env);
  const assertion = await claiming(env, {});
  const atB = (): Promise<Response> => requestToken(env, env.tpp, "BANKB", assertion);
  await assertRejected(env, UNAUTHENTICATED, atB);
  await assertAccepted(token, await token.send(assertion)); // the rejection did not spend it
  await assertRejected(env, UNAUTHENTICATED, atB);
});

Deno.test("POST token, par spend the assertion of a request that they reject for something else [CA12]", async () => {
  await using env = await openEnvironment();
  for (const endpoint of [clientCredentials(env), await pushing(env)]) {
    const assertion = await claiming(env, {});
    const form = { ...assertion.form, scope: "admin" };
    await assertRejected(env, [400, "invalid_scope"], () => endpoint.send({ form }));
    await assertRejected(env, UNAUTHENTICATED, () => endpoint.send(assertion));
  }
});

Deno.test("POST token, par remember no jti of an assertion that did not hold [CA13]", async () => {
  await using env = await openEnvironment();
  const jti = crypto.randomUUID();
  const { key, kid } = env.tpp.signing;
  const bad: readonly (() => Promise<WithAssertion>)[] = [
    () => claiming(env, { jti, aud: "https://other.example" }),
    () => claiming(env, { jti, exp: seconds(env) - 300 }),
    async () =>
      asAssertion(await signJwt({ key: env.otherTpp.signing.key, kid }, { ...goodClaims(env), jti })),
    () => headed(env, key, { alg: "PS256", kid, typ: "dpop+jwt" }),
  ];
  for (const endpoint of await oauthEndpoints(env)) {
    await endpoint.ready();
    for (const make of bad) {
      const assertion = await make();
      await assertRejected(env, UNAUTHENTICATED, () => endpoint.send(assertion));
    }
    await assertRejected(
      env,
      UNAUTHENTICATED,
      async () => endpoint.send({ ...await claiming(env, { jti }), as: null }),
    );
    await assertRejected(
      env,
      UNAUTHENTICATED,
      async () => endpoint.send({ ...await claiming(env, { jti }), as: env.otherTpp }),
    );
  }
  const token = clientCredentials(env);
  await assertAccepted(token, await token.send(await claiming(env, { jti })));
});

Deno.test("POST token keeps the ids of each client apart [CA12]", async () => {
  await using env = await openEnvironment();
  const jti = crypto.randomUUID();
  const token = clientCredentials(env);
  await assertAccepted(token, await token.send(await claiming(env, { jti })));
  const theirs = await clientAssertion(env, env.otherTpp, "BANKA", { claims: { jti } });
  await assertAccepted(token, await token.send({ client: env.otherTpp, ...asAssertion(theirs) }));
});

Deno.test("POST token, par reject a fresh assertion with a jti that was used [CA12]", async () => {
  await using env = await openEnvironment();
  for (const endpoint of await oauthEndpoints(env)) {
    const jti = crypto.randomUUID();
    await assertAccepted(endpoint, await endpoint.send(await claiming(env, { jti })));
    env.now += 1000;
    await endpoint.ready();
    await assertRejected(env, UNAUTHENTICATED, async () => endpoint.send(await claiming(env, { jti })));
  }
});

function goodClaims(env: Environment): JsonObject {
  const { clientId } = env.tpp;
  return { iss: clientId, sub: clientId, aud: `${AUTH_URL}/BANKA`, exp: seconds(env) + 60 };
}
