/** A flood of requests for documentation is not felt by those who pay: measured on `deno task serve`, quiet and flooded in turn. */
import { assert, assertEquals } from "@std/assert";
import { good, requestToken } from "testing/flows.ts";
import { openFlood } from "support/flood.ts";
import { prepared } from "support/prepared_requests.ts";
import { openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";

/** The rate that the reference proxies allow to four addresses. */
const FLOOD_PER_SECOND = 80;
const PAGES = [
  "/openapi.json",
  "/docs",
  "/docs/reference/consents",
  "/docs/errors",
  "/docs/nothing",
  "/docs/reference/nothing",
  "/docs?q=payment+consent+status+of+the+bank",
];
const ROUNDS = 6;
const TOKENS_A_ROUND = 25;
const ROUND_MS = 3000;
const MAX_RATIO = 1.5;
/** A measurement on a machine that does other work too: it is repeated before it counts as bad. */
const MEASUREMENTS = 3;

Deno.test("a token takes at most 1.5 times its quiet time while four addresses flood the documentation", async () => {
  await using env = await openServedEnvironment({ PLATFORM_RATE_LIMITS: "authorization=1000/1000" });
  const port = env.fixture.env["PORT"];
  using flood = openFlood(PAGES.map((path) => `http://127.0.0.1:${port}${path}`), FLOOD_PER_SECOND);
  await tokenTimes(env); // warms both sides up
  const ratios: number[] = [];
  while (ratios.length < MEASUREMENTS && !ratios.some((ratio) => ratio <= MAX_RATIO)) {
    const quiet: number[] = [];
    const flooded: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      quiet.push(...await tokenTimes(env));
      await flood.start();
      flooded.push(...await tokenTimes(env));
      const { sent, statuses } = await flood.stop();
      const answered = (statuses[200] ?? 0) + (statuses[404] ?? 0);
      assert(sent > 10 && answered > sent / 2, `${sent} sent, ${JSON.stringify(statuses)}`);
    }
    ratios.push(median(flooded) / median(quiet));
  }
  assert(ratios.some((ratio) => ratio <= MAX_RATIO), `flooded to quiet: ${ratios.map((r) => r.toFixed(2))}`);
});

Deno.test("the health probe is answered within a second during a flood of documentation", async () => {
  await using env = await openServedEnvironment();
  const origin = `http://127.0.0.1:${env.fixture.env["PORT"]}`;
  using flood = openFlood(PAGES.map((path) => origin + path), FLOOD_PER_SECOND);
  await flood.start();
  const times: number[] = [];
  for (let probe = 0; probe < 15; probe++) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const began = performance.now();
    await good(fetch(`${origin}/health/ready`), 200);
    times.push(performance.now() - began);
  }
  await flood.stop();
  assertEquals(times.filter((time) => time > 1000), []);
});

/** Milliseconds of token requests, one after another. Each is signed beforehand, and a slow server ends the round. */
async function tokenTimes(env: ServedEnvironment): Promise<number[]> {
  const times: number[] = [];
  const ends = performance.now() + ROUND_MS;
  while (times.length < TOKENS_A_ROUND && performance.now() < ends) {
    const request = await prepared(env, (here) => requestToken(here, env.tpp));
    const began = performance.now();
    await good(request.send(), 200);
    times.push(performance.now() - began);
  }
  return times;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
