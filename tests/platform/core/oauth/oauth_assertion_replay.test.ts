import { assertEquals } from "@std/assert";
import { claiming } from "support/assertions.ts";
import { type LogLine, rejectionOf } from "testing/answers.ts";
import { dpopKey, requestToken } from "testing/flows.ts";
import { dpopProof, seconds } from "testing/jwts.ts";
import {
  assertAccepted,
  assertApiError,
  assertRejected,
  clientCredentials,
  pushing,
} from "testing/oauth_requests.ts";
import { adminCall } from "testing/participants.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;

Deno.test("POST token remembers a jti until its assertion has died, and no longer [J32, 2.2]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("POST token, par reject a revoked signing key once the key set is 300 s old [CA-N7]", async () => {
  await using env = await openEnvironment();
  const path = `/participants/${env.tpp.orgId}/keys/${env.tpp.signing.kid}/revoke`;
  const endpoints = [clientCredentials(env), await pushing(env)]; // a code would not live that long
  for (const endpoint of endpoints) await assertAccepted(endpoint, await endpoint.send());
  assertEquals((await adminCall(env, "POST", path, { reason: "stolen" })).status, 200);
  env.now += 300_000;
  for (const endpoint of endpoints) await assertRejected(env, UNAUTHENTICATED, () => endpoint.send());
});

Deno.test("POST token, par reject a client that is not active, and take it back [CA-N23]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("POST token, par answer 503 where the directory's word on keys is over 900 s old [J35, A9]", async () => {
  await using env = await openEnvironment();
  const endpoints = [clientCredentials(env), await pushing(env)];
  env.network = () => Promise.reject(new TypeError("connection refused"));
  env.now += 900_000;
  for (const endpoint of endpoints) await assertAccepted(endpoint, await endpoint.send());
  env.now += 1;
  for (const endpoint of endpoints) {
    const before = await env.snapshot();
    const response = await endpoint.send();
    assertEquals(response.headers.get("retry-after"), "10");
    await assertApiError(response, [503, "temporarily_unavailable"]);
    assertEquals(await env.snapshot(), before);
  }
});

Deno.test("A replayed assertion is logged once, as a rejection and as a security event, and so is a request that is replayed as a whole", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("The proof beside a replayed assertion is used up [RFC 9449 §11.1]", async () => {
  await using env = await openEnvironment();
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
