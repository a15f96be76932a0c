/**
 * Rate limits over HTTP: a rejected request uses up no proof or key, and one participant's flood does not affect others
 * [RAT-01, PA-N17].
 */
import { assert, assertEquals } from "@std/assert";
import { MAX_SKEW_MS } from "../../../../src/base/kernel/clock.ts";
import { rejectionOf } from "testing/answers.ts";
import { type BucketStore, openBucketStore } from "../../../../src/platform/guards/security/rate_limits.ts";
import type { RatePolicy } from "../../../../src/platform/config/rate_policies.ts";
import { anotherProcess } from "support/processes.ts";
import { addKey } from "support/directory_network.ts";
import { test } from "support/environment_test.ts";
import { register } from "testing/participants.ts";
import { call, clientToken, consentBody, createConsent, requestToken } from "testing/flows.ts";
import { dpopProof, payloadSignature } from "testing/jwts.ts";
import { BASE_URL, type Environment, openEnvironment, throughProxy } from "testing/environment.ts";

const PATH = "/BANKA/domestic-payment-consents/v1";

Deno.test("POST token.oauth2 beyond the burst answers 429 with Retry-After, and works again a second later [RAT-01]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_RATE_LIMITS: "authorization=2/8,registration=100/100" },
  });
  const statuses: number[] = [];
  for (let request = 0; request < 9; request++) statuses.push((await requestToken(env, env.tpp)).status);
  assertEquals(statuses, [200, 200, 200, 200, 200, 200, 200, 200, 429]);
  const rejected = await requestToken(env, env.tpp);
  assertEquals(rejected.headers.get("retry-after"), "1");
  assertEquals((await rejectionOf(rejected)).error, "temporarily_unavailable");
  assertEquals((await requestToken(env, env.otherTpp)).status, 200); // another participant is not affected
  env.now += 1000;
  assertEquals((await requestToken(env, env.tpp)).status, 200);
});

Deno.test("POST domestic-payment-consents rejected with 429 uses up neither the proof nor the idempotency key [RAT-01]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_RATE_LIMITS: "consents=1/1,registration=100/100" },
  });
  const bound = await clientToken(env, env.tpp);
  await createConsent(env, bound);
  const body = JSON.stringify(consentBody());
  const proof = await dpopProof(env, bound.key, {
    method: "POST",
    url: `${BASE_URL}${PATH}`,
    accessToken: bound.token,
  });
  const signature = await payloadSignature(env, env.tpp, body);
  const again = { body, proof, signature, idempotencyKey: "one-key" };
  const rejected = await call(env, env.tpp, bound, PATH, again);
  assertEquals([rejected.status, await rejected.text()], [429, ""]);
  env.now += 1000;
  assertEquals((await call(env, env.tpp, bound, PATH, again)).status, 201);
});

Deno.test("beyond the limit, a request is answered 429 before its signatures are looked at [RAT-01]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_RATE_LIMITS: "authorization=1/1,registration=100/100" },
  });
  assertEquals((await requestToken(env, env.tpp)).status, 200);
  const form = { client_assertion: "forged", client_id: "SC-unknown" };
  const rejected = await requestToken(env, env.tpp, "BANKA", { form, proof: "forged" });
  assertEquals([rejected.status, (await rejectionOf(rejected)).error], [429, "temporarily_unavailable"]);
  env.now += 1000;
  const judged = await requestToken(env, env.tpp, "BANKA", { form, proof: "forged" });
  assertEquals(judged.status < 429 && judged.status >= 400, true);
});

Deno.test("a second transport key of a participant does not double its limit [RAT-01]", async (t) => {
  const groups = "authorization=1/8,consents=1/8,registration=100/100";
  await using env = await openEnvironment({ environment: { PLATFORM_RATE_LIMITS: groups } });
  const again = { ...env.tpp, transport: await addKey(env, env.tpp, "transport", 13) };
  env.now += 301_000; // the platform knows both keys
  await t.step("token", async () => {
    const answers: number[] = [];
    for (let request = 0; request < 12; request++) {
      const as = request % 2 === 0 ? env.tpp : again;
      answers.push((await requestToken(env, env.tpp, "BANKA", { as })).status);
    }
    assertEquals(answers, [200, 200, 200, 200, 200, 200, 200, 200, 429, 429, 429, 429]);
    assertEquals((await requestToken(env, env.otherTpp)).status, 200);
  });
  await t.step(
    "consents, where what is rejected has used up neither the proof nor the idempotency key",
    async () => {
      env.now += 10_000;
      const bound = await clientToken(env, env.tpp);
      for (let request = 0; request < 8; request++) await createConsent(env, bound);
      const body = JSON.stringify(consentBody());
      const url = `${BASE_URL}${PATH}`;
      const proof = await dpopProof(env, bound.key, { method: "POST", url, accessToken: bound.token });
      const signature = await payloadSignature(env, env.tpp, body);
      const request = { body, proof, signature, idempotencyKey: "one-key" };
      const before = await env.snapshot();
      assertEquals((await call(env, again, bound, PATH, request)).status, 429);
      const kept = (entries: readonly { readonly key: readonly unknown[] }[]): unknown[] =>
        entries.filter(({ key }) => key[0] !== "rate_bucket");
      assertEquals(kept(await env.snapshot()), kept(before));
      env.now += 1000;
      assertEquals((await call(env, again, bound, PATH, request)).status, 201);
    },
  );
});

Deno.test("reads and the deletion of a registration count as registrations; one beyond the burst deletes nothing [RAT-01, DC18, DC20]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_RATE_LIMITS: "registration=1/4" } });
  env.now += 10_000;
  const [bound, path] = [await clientToken(env, env.tpp), `/register/v1/${env.tpp.clientId}`];
  const proof = await dpopProof(env, bound.key, {
    method: "DELETE",
    url: BASE_URL + path,
    accessToken: bound.token,
  });
  const statusOf = async (answer: Promise<Response>): Promise<number> => {
    const { status, body } = await answer;
    await body?.cancel();
    return status;
  };
  const remove = (): Promise<number> =>
    statusOf(call(env, env.tpp, bound, path, { method: "DELETE", proof }));
  for (let read = 0; read < 4; read++) assertEquals(await statusOf(call(env, env.tpp, bound, path)), 200);
  assertEquals(await remove(), 429);
  env.now += 1000;
  assertEquals(await remove(), 204, "its proof is unused");
});

Deno.test("POST register counts for the participant, whichever transport key it uses [RAT-01]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_RATE_LIMITS: "registration=1/4" } });
  const again = { ...env.tpp, transport: await addKey(env, env.tpp, "transport", 13) };
  env.now += 301_000;
  const statuses: number[] = [];
  for (let request = 0; request < 8; request++) {
    const answer = await register(env, request % 2 === 0 ? env.tpp : again);
    statuses.push(answer.status);
    await answer.body?.cancel();
  }
  assertEquals(statuses.map((status) => status === 429), [
    false,
    false,
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
});

Deno.test("40 parallel requests never get more than the burst [RAT-01]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_RATE_LIMITS: "authorization=1/10,registration=100/100" },
  });
  const answers = await Promise.all(Array.from({ length: 40 }, () => requestToken(env, env.tpp)));
  const counted = (status: number): number => answers.filter((answer) => answer.status === status).length;
  assertEquals([counted(200), counted(429)], [10, 30]);
});

Deno.test("three processes on one store share the limit [RAT-01, RL4]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_RATE_LIMITS: "authorization=1/16,registration=100/100" },
  });
  const all = [env.platform, await anotherProcess(env), await anotherProcess(env)];
  const statuses: number[] = [];
  for (let request = 0; request < 40; request++) {
    const api: typeof env.api = (sent, as) =>
      (all[request % 3] ?? env.platform).api.fetch(throughProxy(sent, as));
    statuses.push((await requestToken(Object.assign(Object.create(env), { api }), env.tpp)).status);
  }
  assertEquals(statuses.filter((status) => status === 200).length, 16);
  assertEquals(statuses.filter((status) => status === 429).length, 24);
  await Promise.all(all.slice(1).map((platform) => platform.stop()));
});

/** The rate limits of so many processes on one store. */
function processesOf(env: Environment, count: number): readonly BucketStore[] {
  const clock = (): number => env.now;
  return Array.from({ length: count }, () => openBucketStore({ store: env.store, clock, steady: clock }));
}

/** How many of these requests, one to each process in turn, are within the limit. */
async function allowed(
  processes: readonly BucketStore[],
  requests: number,
  policy: RatePolicy,
): Promise<number> {
  let count = 0;
  for (let request = 0; request < requests; request++) {
    const buckets = processes[request % processes.length];
    if (await buckets?.take(["reads", "x"], policy) === 0) count++;
  }
  return count;
}

test("the first request to each of 20 processes is within the limit, whatever the others have drawn [RAT-01, RL4]", async ({ env }) => {
  assertEquals(await allowed(processesOf(env, 20), 20, { perSecond: 20, burst: 40 }), 20);
});

test("what 10 processes drew in a quiet time does not add to the burst [RAT-01, RL4]", async ({ env }) => {
  const policy = { perSecond: 20, burst: 40 };
  const processes = processesOf(env, 10);
  for (const buckets of processes) {
    assertEquals(await allowed([buckets], 1, policy), 1);
    env.now += 1000;
  }
  env.now += 2000;
  assertEquals(await allowed(processes, 200, policy), 40);
});

test("three processes allow a steady rate at the limit, and no more than that over a minute [RAT-01, RL4]", async ({ env }) => {
  const policy = { perSecond: 20, burst: 40 };
  const processes = processesOf(env, 3);
  let steady = 0;
  for (let tick = 0; tick < 200; tick++) {
    env.now += 50;
    steady += await allowed(processes.slice(tick % 3), 1, policy);
  }
  assertEquals(steady, 200);
  let flood = 0;
  for (let tick = 0; tick < 60; tick++) {
    env.now += 1000;
    flood += await allowed(processes, 60, policy);
  }
  assert(flood <= 60 * 20 + 40 && flood >= 60 * 20 - 40, `${flood} in a minute`);
});

Deno.test("two processes whose clocks differ allow no more than the limit [RAT-01, RL4]", async () => {
  for (const skewMs of [20, 50, 1000, 2500, MAX_SKEW_MS]) {
    await using env = await openEnvironment();
    const clocks = [0, skewMs].map((ahead) => (): number => env.now + ahead);
    const processes = clocks.map((clock) => openBucketStore({ store: env.store, clock, steady: clock }));
    const policy = { perSecond: 50, burst: 100 };
    let flood = 0;
    for (let tick = 0; tick < 500; tick++) {
      env.now += 10;
      flood += await allowed(processes, 4, policy);
    }
    assert(flood >= 300 && flood <= 100 + (5 + skewMs / 1000) * 50, `${flood} in 5 s, ${skewMs} ms apart`);
  }
});

test("a clock that is put back leaves a rate limit as it is [RAT-01, RL4]", async ({ env }) => {
  const policy = { perSecond: 1, burst: 8 };
  assertEquals(await allowed(processesOf(env, 1), 20, policy), 8);
  let steady = env.now;
  const restarted = openBucketStore({ store: env.store, clock: () => env.now, steady: () => steady });
  env.now -= 3_600_000;
  assertEquals(await allowed([restarted], 20, policy), 0);
  env.now += 2000;
  steady += 2000;
  assertEquals(await allowed([restarted], 20, policy), 2);
});

Deno.test("PLATFORM_RATE_LIMITS that is malformed does not start", async () => {
  const { readRatePolicies } = await import("../../../../src/platform/config/rate_policies.ts");
  for (const text of ["payments", "payments=1", "payments=0/1", "unknown=1/1", "payments=1/1;reads=1/1"]) {
    assertEquals(readRatePolicies(text), undefined, text);
  }
  assertEquals(readRatePolicies("payments=5/6")?.payments, { perSecond: 5, burst: 6 });
});
