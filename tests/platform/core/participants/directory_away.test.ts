/** The platform starts again while the directory is down: kept copies are trusted for what is left of their 900 s. */
import { assertEquals } from "@std/assert";
import { forUrls, keyUrls, revokeKey, serving, STATUS_URL } from "support/directory_network.ts";
import { bodyOf } from "testing/answers.ts";
import type { StatusList } from "testing/directory_answers.ts";
import { requestToken } from "testing/flows.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";

async function tokenStatus(env: Environment): Promise<number> {
  const answer = await requestToken({ ...env, now: env.now + env.clockStep }, env.tpp);
  await answer.body?.cancel();
  return answer.status;
}

function takeAway(env: Environment): void {
  env.network = () => Promise.reject(new TypeError("connection refused"));
}

test("a restart while the directory is down neither ends service nor makes a copy any younger [A9]", async ({ env }) => {
  assertEquals(await tokenStatus(env), 200);
  takeAway(env);
  const statuses: number[] = [];
  for (const seconds of [0, 300, 300, 299, 2]) {
    env.now += seconds * 1000;
    await env.restart();
    statuses.push(await tokenStatus(env));
  }
  assertEquals(statuses, [200, 200, 200, 200, 503]);
});

test("a revocation that was known before the restart is known after it [A9]", async ({ env }) => {
  await revokeKey(env, env.tpp, env.tpp.signing);
  env.now += 15_000;
  assertEquals(await tokenStatus(env), 401);
  takeAway(env);
  await env.restart();
  assertEquals(await tokenStatus(env), 401);
});

Deno.test("the age of a kept copy counts the time before a step of the clock, and none is used if that is unknown [A9]", async (t) => {
  const HOUR_MS = 3_600_000;
  for (const stepMs of [-700_000, -HOUR_MS]) {
    for (const marked of [true, false]) {
      await t.step(`${stepMs / 1000} s, ${marked ? "seen" : "not seen"} by the process`, async () => {
        await using env = await openEnvironment();
        env.now += 2 * HOUR_MS;
        assertEquals(await tokenStatus(env), 200);
        takeAway(env);
        env.now += 800_000;
        await env.platform.markAge();
        env.clockStep = stepMs;
        env.now += 10_000;
        if (marked) await env.platform.markAge();
        await env.restart();
        assertEquals(await tokenStatus(env), marked ? 200 : 503);
        env.now += 91_000;
        assertEquals(await tokenStatus(env), 503);
      });
    }
  }
});

Deno.test("copies in a restored backup are too old, and damaged ones are none [A9]", async (t) => {
  const damage: Readonly<Record<string, (text: string) => string>> = {
    "cut off": (text) => text.slice(0, -1),
    "changed": (text) => text.replace("Active", "active"),
  };
  await t.step("as old as the backup", async () => {
    await using env = await openEnvironment();
    takeAway(env);
    env.now += 86_400_000;
    await env.restart();
    assertEquals(await tokenStatus(env), 503);
  });
  await steps(t, damage, async (change) => {
    await using env = await openEnvironment();
    assertEquals(await tokenStatus(env), 200);
    const pieces = await env.store.list<string>({ prefix: ["kept_piece"], limit: 100 });
    for (const { key, value } of pieces) {
      await env.store.commit({ checks: [], writes: [{ kind: "set", key, value: change(value) }] });
    }
    takeAway(env);
    await env.restart();
    assertEquals(await tokenStatus(env), 503);
  });
});

test("a status list of 20,000 participants is kept, and only the newest [A9]", async ({ env }) => {
  const { participants } = await bodyOf<StatusList>(env.directory.fetch(new Request(STATUS_URL)));
  const others = Array.from({ length: 20_000 }, (_, index): object => ({
    ...participants[0],
    org_id: `ORG-${index}`,
    software_client_id: `SC-${crypto.randomUUID()}`,
  }));
  for (const list of [[...others, ...participants], [...participants, ...others]]) {
    const text = JSON.stringify({ participants: list });
    env.network = forUrls(env, ({ href }) => href === STATUS_URL, serving(text));
    env.now += 15_000;
    assertEquals(await tokenStatus(env), 200);
  }
  const pieces = await env.store.list<string>({ prefix: ["kept_piece"], limit: 1000 });
  const versions = new Map(pieces.map(({ key }) => [key[1], key[2]]));
  assertEquals(pieces.every(({ key }) => versions.get(key[1]) === key[2]), true);
  takeAway(env);
  await env.restart();
  assertEquals(await tokenStatus(env), 200);
});

test("without a copy the directory is asked after 1, 2, 4, 8, then every 10 s, however many requests come [A9]", async ({ env }) => {
  env.now += 86_400_000;
  takeAway(env);
  for (const { key } of await env.store.list({ prefix: ["kept_copy"], limit: 100 })) {
    await env.store.commit({ checks: [], writes: [{ kind: "delete", key }] });
  }
  await env.restart();
  const began = env.now;
  const asked: number[] = [];
  for (let second = 0; second <= 100; second++) {
    env.now = began + second * 1000;
    env.fetched.length = 0;
    for (let request = 0; request < 2; request++) assertEquals(await tokenStatus(env), 503);
    if (env.fetched.includes(STATUS_URL)) asked.push(second);
    assertEquals(env.fetched.length <= 1, true, env.fetched.join());
  }
  assertEquals(asked, [0, 1, 3, 7, 15, 25, 35, 45, 55, 65, 75, 85, 95]);
  env.network = (request) => env.directory.fetch(request);
  env.now += 30_000;
  assertEquals(await tokenStatus(env), 200);
  assertEquals(keyUrls(env.tpp).every((url) => env.fetched.includes(url)), true);
});
