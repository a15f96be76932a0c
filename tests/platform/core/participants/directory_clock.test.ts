/** How far the platform's clock is from the directory's: shown in readiness, logged once each way. */
import { assertEquals } from "@std/assert";
import { readiness } from "support/directory_network.ts";
import { test } from "support/environment_test.ts";
import type { LogLine } from "testing/answers.ts";
import { openDirectoryClock } from "../../../../src/platform/core/participants/directory_clock.ts";
import type { Log } from "../../../../src/platform/observed/log_events.ts";
import { type Environment } from "testing/environment.ts";

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

test("a clock that differs from the directory's by more than 30 s is an alarm, once, and its end is told", async ({ env }) => {
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

test("an answer without a Date, with a senseless one or from a cache is no alarm", async ({ env }) => {
  assertEquals(await logged(env, 3_600_000), []);
  dated(env, { date: "yesterday" });
  assertEquals(await logged(env, 3_600_000), []);
  dated(env, { age: "3600" }, 3_600_000);
  assertEquals(await logged(env, 0), []);
  dated(env, { age: "a while" }, 3_600_000);
  assertEquals(await logged(env, 0), []);
});

test("a start on a store that was used at a later time is an alarm", async ({ env }) => {
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

Deno.test("a difference begins where no moment of the answer explains it, in whole seconds", async () => {
  const DATE = Date.parse("2030-01-31T12:00:00Z");
  const date = new Date(DATE).toUTCString();
  const rows:
    readonly (readonly [Record<string, string>, offset: number, took: number, number | undefined])[] = [
      [{ date }, 0, 0, 0],
      [{ date }, -499, 0, 0],
      [{ date }, -501, 0, -1],
      [{ date }, 1499, 0, 0],
      [{ date }, 1500, 0, 1],
      [{ date }, 1699, 200, 0],
      [{ date }, 1700, 200, 1],
      [{ date, age: "999999999" }, 999_999_999_000, 0, 0],
      [{ date, age: "500" }, 500_000 - 501, 0, -1],
      [{ date, age: "1000000000" }, 0, 0, undefined],
      [{ date, age: "a while" }, 0, 0, undefined],
      [{ date: "yesterday" }, 0, 0, undefined],
      [{}, 0, 0, undefined],
    ];
  for (const [headers, offset, took, expected] of rows) {
    const times = [7, 7 + took];
    const clock = openDirectoryClock({
      fetch: () => Promise.resolve(new Response(null, { headers })),
      clock: () => DATE + offset,
      steady: () => times.shift() ?? NaN,
      log: {} as Log,
    });
    assertEquals([clock.aheadSeconds(), clock.health()], [undefined, { ok: true }]);
    await clock.fetch("https://directory.example/jwks");
    const ahead = clock.aheadSeconds();
    assertEquals(ahead === undefined ? ahead : ahead + 0, expected, JSON.stringify([headers, offset]));
  }
});
