/** How far the platform's clock is from the directory's: shown in readiness, logged once each way. */
import { assertEquals } from "@std/assert";
import { readiness } from "support/directory_network.ts";
import type { LogLine } from "testing/answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";

/** A second later, with the clock off by this; what is logged about the clock. */
async function logged(env: Environment, clockStep: number): Promise<readonly unknown[]> {
  env.clockStep = clockStep;
  env.now += 10_000;
  env.logged.length = 0;
  await env.platform.followDirectory();
  return env.logged.map((line) => JSON.parse(line) as LogLine)
    .filter(({ event }) => event.startsWith("clock."))
    .map(({ level, event, aheadSeconds }) => [level, event, aheadSeconds]);
}

async function clockHealth(env: Environment): Promise<unknown> {
  const { status, body } = await readiness(env);
  return [status, body.ready, body.parts["clock"]];
}

/** Gives the directory's answers a Date, as its listener does. */
function dated(env: Environment, headers: Readonly<Record<string, string>> = {}, behindMs = 0): void {
  env.network = async (request) => {
    const answer = new Response((await env.directory.fetch(request)).body);
    answer.headers.set("date", new Date(env.now - behindMs).toUTCString());
    for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
    return answer;
  };
}

Deno.test("a clock that differs from the directory's by more than 30 s is an alarm, once, and its end is told", async () => {
  await using env = await openEnvironment();
  dated(env);
  assertEquals(await logged(env, 0), []);
  assertEquals(await clockHealth(env), [200, true, { ok: true }]);
  assertEquals(await logged(env, 31_000), []); // a Date has no fractions: up to 1 s is no difference
  assertEquals(await logged(env, -3_600_000), [["error", "clock.differs", -3600]]);
  assertEquals(await clockHealth(env), [200, true, {
    ok: false,
    detail: "this computer's clock is 3600 s behind the directory's",
  }]);
  assertEquals(await logged(env, -3_600_000), []);
  assertEquals(await logged(env, -16_000), []); // not over yet
  assertEquals(await logged(env, -15_000), [["info", "clock.agrees", -15]]);
  assertEquals(await logged(env, 33_000), [["error", "clock.differs", 32]]);
  assertEquals(await clockHealth(env), [200, true, {
    ok: false,
    detail: "this computer's clock is 32 s ahead of the directory's",
  }]);
});

Deno.test("an answer without a Date, with a senseless one or from a cache is no alarm", async () => {
  await using env = await openEnvironment();
  assertEquals(await logged(env, 3_600_000), []);
  dated(env, { date: "yesterday" });
  assertEquals(await logged(env, 3_600_000), []);
  dated(env, { age: "3600" }, 3_600_000);
  assertEquals(await logged(env, 0), []);
  dated(env, { age: "a while" }, 3_600_000);
  assertEquals(await logged(env, 0), []);
});

Deno.test("a start on a store that was used at a later time is an alarm", async () => {
  await using env = await openEnvironment();
  await env.platform.markAge();
  env.clockStep = -30_000;
  await env.restart();
  assertEquals(env.logged.filter((line) => line.includes("clock.behind_store")), []);
  env.clockStep = -3_600_000;
  await env.restart();
  const [line = "{}"] = env.logged.filter((text) => text.includes("clock.behind_store"));
  const { level, seconds } = JSON.parse(line) as LogLine;
  assertEquals([level, seconds], ["error", 3600]);
});
