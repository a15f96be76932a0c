/**
 * A flood of invalid tokens from one participant: its cost for the platform and for the other participants (contract
 * J14).
 */
import { assert, assertEquals } from "@std/assert";
import { costOf, FREE } from "support/crypto_meter.ts";
import { requestToken } from "testing/flows.ts";
import { clientAssertion } from "testing/jwts.ts";
import { prepared } from "support/prepared_requests.ts";
import { BASE_URL, openEnvironment, throughProxy } from "testing/environment.ts";

Deno.test("a flood of bad tokens costs its sender's allowance and no more, and leaves others theirs [J14]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_RATE_LIMITS: "authorization=20/40" } });
  const forgedAssertion = `${await clientAssertion(env, env.tpp, "BANKA")}`.replace(/.{8}$/, "AAAAAAAA");
  const form = { client_assertion: forgedAssertion };
  const flood = await Promise.all(
    Array.from(
      { length: 300 },
      () => prepared(env, (w) => requestToken(w, w.tpp, "BANKA", { form, proof: "x" })),
    ),
  );
  const { result, cost } = await costOf(() => Promise.all(flood.map(({ send }) => send())));
  const statuses = result.map(({ status }) => status);
  assertEquals([401, 429].map((status) => statuses.filter((each) => each === status).length), [40, 260]);
  assertEquals(cost, { ...FREE, verified: 40 });
  assertEquals((await requestToken(env, env.otherTpp)).status, 200);
  assertEquals((await requestToken(env, env.tpp)).status, 429);
});

const FLOOD_IN_FLIGHT = 8;
const SAMPLES = 15;
/**
 * Eight other requests are always ahead in the queue, so about ten times as slow is fair. The rest allows for a busy
 * computer.
 */
const MOST_TIMES_SLOWER = 40;

Deno.test("a flood of bad tokens without any limit slows others down in proportion, and no more [J14]", async () => {
  await using env = await openEnvironment();
  const bad = `${await clientAssertion(env, env.tpp, "BANKA")}`.replace(/.{8}$/, "AAAAAAAA");
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    scope: "payments",
    client_id: env.tpp.clientId,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: bad,
  });
  const attack = async (): Promise<void> => {
    const request = new Request(`${BASE_URL}/BANKA/token.oauth2/v1`, { method: "POST", body });
    assertEquals((await env.platform.api.fetch(throughProxy(request, env.tpp))).status, 401);
  };
  const requests = await Promise.all(
    Array.from({ length: 2 * SAMPLES + 3 }, () => prepared(env, (w) => requestToken(w, w.otherTpp))),
  );
  const latency = async (count: number): Promise<number> => {
    const taken: number[] = [];
    for (const { send } of requests.splice(0, count)) {
      const begun = performance.now();
      assertEquals((await send()).status, 200);
      taken.push(performance.now() - begun);
    }
    return taken.sort((a, b) => a - b)[count >> 1] ?? NaN;
  };
  await latency(3); // warm-up
  const quiet = await latency(SAMPLES);
  const flood = { attacks: 0, over: false };
  const attackers = Array.from({ length: FLOOD_IN_FLIGHT }, async () => {
    for (; !flood.over; flood.attacks++) await attack();
  });
  const flooded = await latency(SAMPLES);
  flood.over = true;
  await Promise.all(attackers);
  assert(flood.attacks >= SAMPLES, `${flood.attacks} attacks were no flood`);
  assert(
    flooded <= MOST_TIMES_SLOWER * Math.max(quiet, 1),
    `${quiet} ms when quiet, ${flooded} ms in the flood`,
  );
});
