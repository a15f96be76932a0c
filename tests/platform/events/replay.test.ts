/** Replays of events of a time (contract EVT15, EVT-N5). */
import { assertEquals } from "@std/assert";
import type { AnswerOf, Replayed } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { call, clientToken, type FlowEnvironment, good } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { polled, waiting } from "./poll.ts";
import { openReceiver, pushedLater, receivedEvents, rejects } from "./receiver.ts";
import { unchanged } from "testing/store_contents.ts";

async function replay(
  env: FlowEnvironment,
  body: unknown,
  by: Participant = env.tpp,
  bank = "BANKA",
): Promise<AnswerOf<Replayed>> {
  const bound = await clientToken(env, by, bank);
  const options = { body: JSON.stringify(body), signature: null, idempotencyKey: null };
  return await call(env, by, bound, `/${bank}/events/v1/replay`, options);
}

/** From `ago` milliseconds before now on. The clock stands still, so entries of a history are some milliseconds ahead of it. */
function since(env: { readonly now: number }, ago: number): { readonly from: string; readonly to?: string } {
  return { from: new Date(env.now - ago).toISOString(), to: new Date(env.now + 1000).toISOString() };
}

async function acknowledgeAll(env: FlowEnvironment): Promise<readonly string[]> {
  const jtis = (await waiting(env)).map(({ jti }) => jti);
  await polled(env, { ack: jtis, returnImmediately: true });
  return jtis;
}

test("a replay returns the acknowledged events of its time with the same jti and claims, as often as it is asked for [EVT15]", async ({ env }) => {
  const [early, late] = [await authorised(env), (env.now += 3_600_000, await authorised(env))];
  const before = await waiting(env);
  await acknowledgeAll(env);
  for (let times = 0; times < 2; times++) {
    assertEquals(await good(replay(env, since(env, 60_000)), 200), { replayed: 1 });
    const again = await waiting(env);
    assertEquals(again.map(({ resource }) => resource), [late.consentId]);
    assertEquals(again[0]?.claims, before.find(({ resource }) => resource === late.consentId)?.claims);
    if (times === 0) await acknowledgeAll(env);
  }
  await acknowledgeAll(env);
  const until = { ...since(env, 4_000_000), to: new Date(env.now - 60_000).toISOString() };
  assertEquals(await good(replay(env, until), 200), { replayed: 1 });
  assertEquals((await waiting(env)).map(({ resource }) => resource), [early.consentId]);
  await acknowledgeAll(env);
  assertEquals(await good(replay(env, since(env, 4_000_000)), 200), { replayed: 2 });
  const all = await waiting(env);
  assertEquals(all.map(({ resource }) => resource), [early.consentId, late.consentId]);
});

test("a replay reaches back PLATFORM_EVENT_DAYS, and finds no event of another client or bank [EVT5, EVT15]", async ({ env }) => {
  await authorised(env);
  await acknowledgeAll(env);
  const year = since(env, 365 * 86_400_000);
  assertEquals(await good(replay(env, year, env.otherTpp), 200), { replayed: 0 });
  assertEquals(await good(replay(env, year, env.tpp, "BANKB"), 200), { replayed: 0 });
  env.now += 7 * 86_400_000;
  assertEquals(await good(replay(env, since(env, 365 * 86_400_000)), 200), { replayed: 0 });
});

test("a replay of many events says where the others begin [EVT15]", async ({ env }) => {
  const { consentId } = await authorised(env);
  await acknowledgeAll(env);
  const [entry] = await env.store.list<object>({ prefix: ["event_finished"], limit: 1 });
  if (entry === undefined) throw new Error("no acknowledged event");
  const [name = "", client = "", bank = "", at = ""] = entry.key;
  for (let start = 1; start < 700; start += 100) {
    const writes = Array.from({ length: 100 }, (_, index) => ({
      kind: "set" as const,
      key: [name, client, bank, String(Number(at) + start + index).padStart(15, "0"), consentId],
      value: entry.value,
    }));
    await env.store.commit({ checks: [], writes });
  }
  env.now += 10_000;
  const first = await good(replay(env, since(env, 60_000)), 200);
  assertEquals([first.replayed, Date.parse(first.next ?? "") - Number(at)], [500, 500]);
  const rest = { from: first.next, to: new Date(env.now).toISOString() };
  assertEquals(await good(replay(env, rest), 200), { replayed: 201 });
  assertEquals((await env.store.list({ prefix: ["event"], limit: 1000 })).length, 701);
});

Deno.test("a replay lets dead events be pushed again [EVT12, EVT15]", async () => {
  await using env = await openReceiver(rejects());
  await authorised(env);
  const begin = env.now;
  for (let pushes = 0; pushes < 12; pushes++) await pushedLater(env, 700_000);
  assertEquals(env.received.length, 11);
  env.answer = () => new Response(null, { status: 202 });
  const time = { from: new Date(begin).toISOString(), to: new Date(env.now).toISOString() };
  assertEquals(await good(replay(env, time), 200), { replayed: 1 });
  assertEquals(await env.platform.deliverEvents(), 1);
  assertEquals(new Set((await receivedEvents(env)).map(({ jti }) => jti)).size, 1);
  assertEquals(await waiting(env), []);
});

Deno.test("a replay finds a dead event behind more than 500 that wait [EVT15]", async () => {
  await using env = await openReceiver(rejects());
  await authorised(env);
  const begin = env.now;
  for (let pushes = 0; pushes < 11; pushes++) await pushedLater(env, 700_000);
  const [entry] = await env.store.list<Record<string, unknown>>({ prefix: ["event"], limit: 1 });
  if (entry === undefined) throw new Error("no event");
  const [name = "", client = "", bank = "", at = "", consentId = ""] = entry.key;
  const { push: _, ...value } = entry.value;
  for (let start = 1; start < 700; start += 100) {
    const writes = Array.from({ length: 100 }, (_, index) => ({
      kind: "set" as const,
      key: [name, client, bank, String(Number(at) - start - index).padStart(15, "0"), consentId],
      value,
    }));
    await env.store.commit({ checks: [], writes });
  }
  const time = { from: new Date(begin - 1000).toISOString(), to: new Date(env.now).toISOString() };
  assertEquals(await good(replay(env, time), 200), { replayed: 1 });
});

const WRONG: Readonly<Record<string, readonly [body: Readonly<Record<string, unknown>>, path: string]>> = {
  "no to": [{ from: "2040-01-15T12:00:00Z" }, "to"],
  "no from": [{ to: "2040-01-15T12:00:00Z" }, "from"],
  "a time without an offset": [{ from: "2040-01-15T12:00:00", to: "2040-01-15T12:00:00Z" }, "from"],
  "a to before from": [{ from: "2040-01-15T12:00:01Z", to: "2040-01-15T12:00:00Z" }, "to"],
};

test("a replay without a time is rejected [EVT-N5]", async ({ env, t }) => {
  await steps(t, WRONG, async ([body, path]) => {
    const bound = await clientToken(env, env.tpp);
    const options = { body: JSON.stringify(body), signature: null, idempotencyKey: null };
    const answer = await unchanged(env, () => call(env, env.tpp, bound, "/BANKA/events/v1/replay", options));
    await assertFaults(answer, 400, [[code(body, path), path]]);
  });
});

function code(body: Readonly<Record<string, unknown>>, path: string): string {
  return body[path] === undefined ? "Field.Missing" : "Field.Invalid";
}
