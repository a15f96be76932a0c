/**
 * Operators' view of pushes, and their means against dead events (contract EVT16). Rejections of an event, and how they
 * differ from an outage (contract EVT12).
 */
import { assertEquals, assertMatch } from "@std/assert";
import { type LogLine, rejectionOf } from "testing/answers.ts";
import type { EventDeliveries } from "testing/operation_answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { historyOf } from "testing/histories.ts";
import {
  acknowledges,
  away,
  openReceiver,
  pushedLater,
  receivedEvents,
  type ReceiverAnswer,
  type ReceiverEnvironment,
  rejects,
} from "./receiver.ts";
import { CALLBACK, subscription } from "./subscribing.ts";
import { waiting } from "./poll.ts";
import { steps } from "support/steps.ts";

const DELIVERIES = "/operations/event-deliveries";

async function deliveries(env: ReceiverEnvironment): Promise<EventDeliveries["Data"]["EventDelivery"]> {
  return (await good<EventDeliveries>(env.asOperator(DELIVERIES), 200)).Data.EventDelivery;
}

async function metrics(env: ReceiverEnvironment, name: string): Promise<readonly string[]> {
  await env.platform.workOnce();
  const text = await (await env.asOperator("/operations/metrics")).text();
  return text.split("\n").filter((line) => line.startsWith(`${name}{`)).toSorted();
}

Deno.test("operators see how many events of a subscriber wait and are dead and why, and have dead ones sent again [EVT12, EVT16]", async () => {
  await using env = await openReceiver(rejects());
  await authorised(env);
  for (let pushes = 0; pushes < 12; pushes++) await pushedLater(env, 700_000);
  assertEquals(await env.platform.sweepConsents(), 1); // the consent was not used in time, which is an event too
  await authorised(env);
  const [shown, ...others] = await deliveries(env);
  const { OldestDateTime, LastFailure, ...rest } = shown ?? {};
  assertEquals(others, []);
  assertEquals(rest, {
    ClientId: env.tpp.clientId,
    Tpp: "Example Shop Ltd · Example Shop Ltd app",
    BankId: "BANKA",
    CallbackUrl: CALLBACK,
    Waiting: 2,
    Dead: 1,
    IsReceiverAway: false,
  });
  assertEquals(OldestDateTime?.slice(0, 10), "2040-01-15");
  assertMatch(LastFailure, /^status 400, err invalid_key \(\d+-[0-9a-f-]{36}\)$/);
  const client = env.tpp.clientId;
  assertEquals(await metrics(env, "platform_events"), [
    `platform_events{client="${client}",state="dead"} 1`,
    `platform_events{client="${client}",state="waiting"} 2`,
  ]);
  const [age] = await metrics(env, "platform_event_oldest_age_seconds");
  assertMatch(age ?? "", / 84\d\d(\.\d+)?$/);
  env.answer = acknowledges;
  env.received.length = 0;
  const path = `${DELIVERIES}/${client}/BANKA/redrive`;
  assertEquals(await good(env.asOperator(path, { method: "POST" }), 202), { Data: { Redriven: 1 } });
  await pushedLater(env, 2000);
  const [, dead] = /\((.+)\)$/.exec(LastFailure ?? "") ?? [];
  assertEquals((await receivedEvents(env)).filter(({ jti }) => jti === dead).length, 1);
  assertEquals(await waiting(env), []);
  const [note] = await historyOf(env.store, `software ${client}`);
  assertEquals([note?.event, note?.actor, note?.reason], [
    "events.redriven",
    "operator maria",
    "1 events of BANKA",
  ]);
  assertEquals((await historyOf(env.store, client)).map(({ event }) => event), ["client.registered"]);
});

Deno.test("the breaker of a receiver that is away is shown, and closes when it answers [EVT16]", async () => {
  await using env = await openReceiver(away);
  for (let count = 0; count < 6; count++) await authorised(env);
  await env.platform.deliverEvents();
  const open = `platform_event_receivers_away{client="${env.tpp.clientId}"} 1`;
  assertEquals([
    await metrics(env, "platform_event_receivers_away"),
    (await deliveries(env))[0]?.IsReceiverAway,
  ], [[open], true]);
  env.answer = acknowledges;
  await pushedLater(env, 40_000);
  assertEquals(await metrics(env, "platform_event_receivers_away"), []);
});

Deno.test("a redrive of a subscription that is not there is 404, and a subscriber that polls has no delivery [EVT16]", async () => {
  await using env = await openReceiver();
  const other = env.otherTpp;
  await good(subscription(env, { Version: "4.0" }, { by: other }), 201);
  assertEquals((await deliveries(env)).map(({ ClientId }) => ClientId), [env.tpp.clientId]);
  for (const path of [`${other.clientId}/BANKB`, "SC-1/BANKA", `${other.clientId}/x`]) {
    const answer = await env.asOperator(`${DELIVERIES}/${path}/redrive`, { method: "POST" });
    assertEquals([answer.status, (await rejectionOf(answer)).error], [404, "not_found"]);
  }
});

Deno.test("the events of a TPP that has deleted its registration are not counted, so no alert is about them [EVT16, DC23]", async () => {
  await using env = await openReceiver(away);
  await authorised(env);
  await env.platform.deliverEvents();
  assertEquals((await metrics(env, "platform_events")).length, 2);
  const path = `/register/v1/${env.tpp.clientId}`;
  const bound = await clientToken(env, env.tpp);
  assertEquals((await call(env, env.tpp, bound, path, { method: "DELETE" })).status, 204);
  env.now += 5 * 86_400_000;
  assertEquals(await metrics(env, "platform_events"), []);
  assertEquals(await metrics(env, "platform_event_oldest_age_seconds"), []);
});

const busy: ReceiverAnswer = () => new Response(null, { status: 429, headers: { "retry-after": "5" } });

/** Gives the answer to the next pushes of the one event, each when it is due. Returns how many there were. */
async function pushes(env: ReceiverEnvironment, answer: ReceiverAnswer, times: number): Promise<number> {
  env.answer = answer;
  const before = env.received.length;
  for (let tried = 0; tried < times; tried++) await pushedLater(env, 700_000);
  return env.received.length - before;
}

const NOT_YET_DEAD: Readonly<Record<string, readonly (readonly [ReceiverAnswer, times: number])[]>> = {
  "after an outage, a receiver that is busy": [[away, 12], [busy, 1]],
  "after an outage, a receiver that rejects 10 times": [[away, 12], [rejects(), 10]],
  "a receiver that is busy all the time": [[busy, 15]],
  "a receiver that rejects 10 times, with outages and pauses between": [
    [rejects(), 5],
    [busy, 3],
    [away, 3],
    [rejects(), 5],
  ],
};

Deno.test("an event is not dead before it was rejected 11 times: outages and 429 with Retry-After do not count [EVT12]", async (t) => {
  await steps(t, NOT_YET_DEAD, async (answers) => {
    await using env = await openReceiver();
    await authorised(env);
    for (const [answer, times] of answers) assertEquals(await pushes(env, answer, times), times);
    assertEquals(await pushes(env, acknowledges, 1), 1);
    assertEquals(await waiting(env), []);
  });
});

Deno.test("an event is dead after 11 rejections, whatever came between; 429 without Retry-After is one [EVT12]", async () => {
  await using env = await openReceiver();
  await authorised(env);
  await pushes(env, away, 3);
  await pushes(env, rejects(), 10);
  await pushes(env, busy, 2);
  assertEquals(await pushes(env, () => new Response(null, { status: 429 }), 3), 1);
  const [dead] = env.logged.map((line) => JSON.parse(line) as LogLine).filter(({ event }) =>
    event === "event.dead"
  );
  assertEquals([dead?.failures, dead?.why], [16, "status 429"]);
});
