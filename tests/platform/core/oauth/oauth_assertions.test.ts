/**
 * Client assertions at the token endpoint (both grants) and PAR: issuer, subject and audience, and unusual ones that
 * are right. `tests/attacks/jwt_*.test.ts` has the assertions that no endpoint accepts. Client assertions at the token
 * endpoint and PAR: used once, by an active client, while they are fresh (contract LT1).
 */
import { asAssertion, claiming, headed, type WithAssertion } from "support/assertions.ts";
import { clientAssertion, dpopProof, type JsonObject, seconds, signJwt } from "testing/jwts.ts";
import {
  acceptedEverywhere,
  assertAccepted,
  assertApiError,
  assertRejected,
  type Case,
  clientCredentials,
  oauthEndpoints,
  pushing,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";
import { AUTH_URL, BASE_URL, type Environment } from "testing/environment.ts";
import { dpopKey, push, requestToken } from "testing/flows.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { assertEquals } from "@std/assert";
import { type LogLine, rejectionOf } from "testing/answers.ts";
import { adminCall } from "testing/participants.ts";
import { unchanged } from "testing/store_contents.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;
const ISSUER = `${AUTH_URL}/BANKA`;

test("POST token, par reject an assertion of one client for another [CA-N8, PA-N18]", async ({ env, t }) => {
  const { tpp, otherTpp } = env;
  const made = async (changes: JsonObject, kid = tpp.signing.kid): Promise<WithAssertion> =>
    asAssertion(await clientAssertion(env, tpp, "BANKA", { claims: changes, header: { kid } }));
  const others = { iss: otherTpp.clientId, sub: otherTpp.clientId };
  const as = (made: WithAssertion): { form: { client_id: string; client_assertion: string } } => ({
    form: { client_id: otherTpp.clientId, ...made.form },
  });
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "claims and client_id of client 2": async () => as(await made(others)),
    "claims, kid and client_id of client 2": async () => as(await made(others, otherTpp.signing.kid)),
    "and the certificate of client 2": async () => ({ ...as(await made(others)), as: otherTpp }),
    "client_id of client 2 alone": async () => as(await made({})),
    "client_id of client 2 and its certificate": async () => ({ ...as(await made({})), as: otherTpp }),
    "claims of client 2 alone": () => made(others),
    "client_id in upper case": () => ({ form: { client_id: tpp.clientId.toUpperCase() } }),
    "client_id in lower case": () => ({ form: { client_id: tpp.clientId.toLowerCase() } }),
  });
});

test("POST token, par want iss, sub and client_id to be one [CA-N9] [CA-N10]", async ({ env, t }) => {
  const { clientId } = env.tpp;
  const wrong = [undefined, null, "", 1, env.otherTpp.clientId, clientId.toLowerCase(), `${clientId} `, [
    clientId,
  ]];
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    ...each(env, "iss", wrong),
    ...each(env, "sub", wrong),
    "both of another client": () => claiming(env, { iss: env.otherTpp.clientId, sub: env.otherTpp.clientId }),
  });
});

test("POST token, par reject an assertion that could be a JWT of another kind", async ({ env, t }) => {
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    ...each(env, "htm", ["POST", null]),
    ...each(env, "software_statement", ["x", null]),
    ...each(env, "correlation_id", ["x", null]),
  });
});

test("POST token, par take the bank's issuer as aud, as a string, and nothing else [CA-N11] [FAPI-D2] [CA9]", async ({ env, t }) => {
  await rejectedEverywhere(
    t,
    env,
    UNAUTHENTICATED,
    each(env, "aud", [
      "https://auth.other.example/BANKA",
      `${BASE_URL}/BANKA/token.oauth2/v1`,
      `${BASE_URL}/BANKA/par.oauth2/v1`,
      `${BASE_URL}/BANKA`,
      [ISSUER],
      [ISSUER, "https://auth.other.example"],
      `${ISSUER}/`,
      "https://AUTH.platform.example/BANKA",
      "https://auth.platform.example:443/BANKA",
      `${AUTH_URL}/banka`,
      `${AUTH_URL}/BANKB`,
      AUTH_URL,
      `${ISSUER} `,
      "BANKA",
      "",
      undefined,
      null,
      1,
      { aud: ISSUER },
    ]),
  );
});

test("POST token, par accept an assertion without iat and nbf [CA11]", async ({ env, t }) => {
  await acceptedEverywhere(t, env, {
    "neither": () => claiming(env, { iat: undefined, nbf: undefined }),
    "fractions": () => claiming(env, { iat: seconds(env) + 0.5, exp: seconds(env) + 60.25 }),
  });
});

test("POST token, par accept unknown claims and the two names of the type [CA-N20] [FAPI-D19]", async ({ env, t }) => {
  const typed = (typ: string): Case => async () =>
    asAssertion(await clientAssertion(env, env.tpp, "BANKA", { header: { typ } }));
  await acceptedEverywhere(t, env, {
    "extra claims": () =>
      claiming(env, { tx_id: 1, scope: "x", "https://example.com/a": [null], client_id: "x" }),
    "extra header": async () =>
      asAssertion(await clientAssertion(env, env.tpp, "BANKA", { header: { tx_id: "1" } })),
    "typ JWT": typed("JWT"),
    "typ jwt": typed("jwt"),
    "typ client-authentication+jwt": typed("client-authentication+jwt"),
    "typ application/client-authentication+jwt": typed("application/client-authentication+jwt"),
  });
});

/** One case per value of a claim; `undefined` leaves it out. */
function each(env: Environment, claim: string, values: readonly unknown[]): Record<string, Case> {
  return Object.fromEntries(
    values.map((value): [string, Case] => [
      `${claim}: ${value === undefined ? "missing" : JSON.stringify(value).slice(0, 60)}`,
      () => claiming(env, { [claim]: value }),
    ]),
  );
}

test("POST token, par take an assertion once, wherever it is used again [CA-N17, CA16]", async ({ env, t }) => {
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

test("POST token, par reject an assertion for bank A at bank B, used or not [CA-N17, J31]", async ({ env }) => {
  const token = clientCredentials(env);
  const assertion = await claiming(env, {});
  const atB = (): Promise<Response> => requestToken(env, env.tpp, "BANKB", assertion);
  const parAtB = (): Promise<Response> => push(env, crypto.randomUUID(), { bank: "BANKB", ...assertion });
  await assertRejected(env, UNAUTHENTICATED, atB);
  await assertRejected(env, UNAUTHENTICATED, parAtB);
  await assertAccepted(token, await token.send(assertion)); // the rejection did not spend it
  await assertRejected(env, UNAUTHENTICATED, atB);
});

test("POST token, par spend the assertion of a request that they reject for something else [CA12]", async ({ env }) => {
  for (const endpoint of [clientCredentials(env), await pushing(env)]) {
    const assertion = await claiming(env, {});
    const form = { ...assertion.form, scope: "admin" };
    await assertRejected(env, [400, "invalid_scope"], () => endpoint.send({ form }));
    await assertRejected(env, UNAUTHENTICATED, () => endpoint.send(assertion));
  }
});

test("POST token, par remember no jti of an assertion that did not hold [CA13]", async ({ env }) => {
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

test("POST token keeps the ids of each client apart [CA12]", async ({ env }) => {
  const jti = crypto.randomUUID();
  const token = clientCredentials(env);
  await assertAccepted(token, await token.send(await claiming(env, { jti })));
  const theirs = await clientAssertion(env, env.otherTpp, "BANKA", { claims: { jti } });
  await assertAccepted(token, await token.send({ client: env.otherTpp, ...asAssertion(theirs) }));
});

test("POST token, par reject a fresh assertion with a jti that was used [CA12]", async ({ env }) => {
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

test("POST token remembers a jti until its assertion has died, and no longer [J32, 2.2]", async ({ env, t }) => {
  const token = clientCredentials(env);
  await stepsOf(t, [60, 330, 60.9, 0.5], (lifetime) => `exp in ${lifetime} s`, async (lifetime) => {
    const jti = crypto.randomUUID();
    const used = await claiming(env, { jti, exp: seconds(env) + lifetime });
    const began = env.now;
    await assertAccepted(token, await token.send(used));
    for (const milliseconds of [1, 29_000, 29_999, 30_000, 30_400, 30_500, 30_899, 30_900, 30_999, 31_000]) {
      env.now = began + Math.floor(lifetime) * 1000 + milliseconds;
      await assertRejected(env, UNAUTHENTICATED, () => token.send(used));
    }
    const again = await claiming(env, { jti });
    await assertAccepted(token, await token.send(again));
    await assertRejected(env, UNAUTHENTICATED, () => token.send(again));
  });
});

test("POST token, par reject a revoked signing key once the key set is 300 s old [CA-N7]", async ({ env }) => {
  const path = `/participants/${env.tpp.orgId}/keys/${env.tpp.signing.kid}/revoke`;
  const endpoints = [clientCredentials(env), await pushing(env)]; // a code would not live that long
  for (const endpoint of endpoints) await assertAccepted(endpoint, await endpoint.send());
  assertEquals((await adminCall(env, "POST", path, { reason: "stolen" })).status, 200);
  env.now += 300_000;
  for (const endpoint of endpoints) await assertRejected(env, UNAUTHENTICATED, () => endpoint.send());
});

test("POST token, par reject a client that is not active, and take it back [CA-N23]", async ({ env, t }) => {
  const { orgId } = env.tpp;
  const set = async (path: string, status: string): Promise<void> => {
    const response = await adminCall(env, "PUT", `/participants/${orgId}${path}`, { status, reason: "test" });
    assertEquals(response.status, 200);
    env.now += 300_000; // key sets are that old at most (Decision A9)
  };
  const endpoints = [clientCredentials(env), await pushing(env)];
  const judge = async (name: string, good: boolean): Promise<void> => {
    await stepsOf(t, endpoints, (endpoint) => `${endpoint.name}: ${name}`, async (endpoint) => {
      if (good) await assertAccepted(endpoint, await endpoint.send());
      else await assertRejected(env, UNAUTHENTICATED, () => endpoint.send());
    });
  };
  await set("/software/status", "Inactive");
  await judge("software inactive", false);
  await set("/software/status", "Active");
  await judge("software active again", true);
  await set("/status", "Suspended");
  await judge("organisation suspended", false);
  await set("/status", "Active");
  await set("/software/status", "Active");
  await judge("organisation active again", true);
  await set("/software/status", "Revoked");
  await judge("software revoked", false);
});

test("POST token, par answer 503 where the directory's word on keys is over 900 s old [J35, A9]", async ({ env }) => {
  const endpoints = [clientCredentials(env), await pushing(env)];
  env.network = () => Promise.reject(new TypeError("connection refused"));
  env.now += 900_000;
  for (const endpoint of endpoints) await assertAccepted(endpoint, await endpoint.send());
  env.now += 1;
  for (const endpoint of endpoints) {
    const response = await unchanged(env, () => endpoint.send());
    assertEquals(response.headers.get("retry-after"), "10");
    await assertApiError(response, [503, "temporarily_unavailable"]);
  }
});

test("A replayed assertion is logged once, as a rejection and as a security event, and so is a request that is replayed as a whole", async ({ env, t }) => {
  const assertion = await claiming(env, {});
  const headers = { dpop: await tokenProof(env) };
  const whole = { ...assertion, headers };
  assertEquals((await requestToken(env, env.tpp, "BANKA", whole)).status, 200);
  for (const [name, replay] of [["the assertion", assertion], ["assertion and proof", whole]] as const) {
    await t.step(name, async () => {
      const before = env.logged.length;
      assertEquals((await requestToken(env, env.tpp, "BANKA", replay)).status, 401);
      const events = env.logged.slice(before).map((line) => (JSON.parse(line) as LogLine).event);
      assertEquals(events, ["request.rejected", "security.replay", "request.answered"]);
    });
  }
});

test("The proof beside a replayed assertion is used up [RFC 9449 §11.1]", async ({ env }) => {
  const assertion = await claiming(env, {});
  assertEquals((await requestToken(env, env.tpp, "BANKA", assertion)).status, 200);
  const headers = { dpop: await tokenProof(env) };
  assertEquals((await requestToken(env, env.tpp, "BANKA", { ...assertion, headers })).status, 401);
  const again = await requestToken(env, env.tpp, "BANKA", { headers });
  assertEquals([again.status, (await rejectionOf(again)).error], [400, "invalid_dpop_proof"]);
});

async function tokenProof(env: Environment): Promise<string> {
  const target = { method: "POST", url: `${BASE_URL}/BANKA/token.oauth2/v1` };
  return await dpopProof(env, await dpopKey(), target);
}
