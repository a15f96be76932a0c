/** Pushes of events to a TPP's receiver (contract EVT11 to EVT14; RFC 8935). */
import { assert, assertEquals } from "@std/assert";
import { firstOf, type LogLine } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { paidAt, putStatus } from "testing/back_channel.ts";
import { good, pay } from "testing/flows.ts";
import type { Entry, Listing, Store } from "../../../src/base/store/store.ts";
import { anotherProcess } from "support/processes.ts";
import { setOrganisation } from "support/directory_network.ts";
import { BOUND_MS } from "support/standing.ts";
import { steps } from "support/steps.ts";
import { testWith } from "support/environment_test.ts";
import { tracesAt } from "../operations/traces/read_traces.ts";
import { type Polled, polled, waiting } from "./poll.ts";
import {
  acknowledges,
  away,
  openReceiver,
  pushedLater,
  receivedEvents,
  type ReceiverAnswer,
  type ReceiverEnvironment,
  rejects,
  silent,
} from "./receiver.ts";
import {
  block,
  CALLBACK,
  OTHER_CALLBACK,
  subscribed,
  subscription,
  subscriptions,
  unsubscribe,
} from "./subscribing.ts";

const test = testWith(() => openReceiver(away));

Deno.test("each event is pushed as one signed token, and 202 finishes it for polls too [EVT11, EVT14]", async () => {
  await using env = await openReceiver();
  const { data, flow } = await paidAt(env, env.bankA);
  await good(putStatus(env, env.bankA, data.DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  const wouldPoll = await waiting(env);
  assertEquals(await env.platform.deliverEvents(), 4);
  const pushed = await receivedEvents(env);
  assertEquals(pushed.map(({ what, resource }) => `${what} ${resource}`).toSorted(), [
    `consent-authorised Authorized ${flow.consentId}`,
    `consent-consumed Consumed ${flow.consentId}`,
    `payment-status-changed AcceptedSettlementCompleted ${data.DomesticPaymentId}`,
    `payment-status-changed AcceptedSettlementInProcess ${data.DomesticPaymentId}`,
  ]);
  const byJti = (events: readonly Pick<Polled, "jti" | "claims">[]): Map<string, unknown> =>
    new Map(events.map(({ jti, claims }) => [jti, claims]));
  assertEquals(byJti(pushed), byJti(wouldPoll));
  for (const { request } of env.received) {
    assertEquals([request.method, request.url, request.redirect], ["POST", CALLBACK, "manual"]);
    assertEquals(request.headers.get("content-type"), "application/secevent+jwt");
    assertEquals(request.headers.get("accept"), "application/json");
  }
  assertEquals(pushed[0]?.header["typ"], "secevent+jwt");
  assertEquals(await waiting(env), []);
  assertEquals(await pushedLater(env, 1000), 0);
});

test("no event is pushed before the earlier ones of its consent or payment are taken [EVT13]", async ({ env }) => {
  const { data, flow } = await paidAt(env, env.bankA);
  await good(putStatus(env, env.bankA, data.DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  assertEquals(await env.platform.deliverEvents(), 2); // the first of the consent and of the payment
  env.answer = ({ token }) => token.includes("?") ? away() : acknowledges();
  env.received.length = 0;
  await pushedLater(env, 2000);
  const order = (await receivedEvents(env)).map(({ what, resource }) => [resource, what]);
  const of = (id: string): unknown => order.filter(([resource]) => resource === id).map(([, what]) => what);
  assertEquals(of(flow.consentId), ["consent-authorised Authorized", "consent-consumed Consumed"]);
  assertEquals(of(data.DomesticPaymentId), [
    "payment-status-changed AcceptedSettlementInProcess",
    "payment-status-changed AcceptedSettlementCompleted",
  ]);
});

Deno.test("a rejected event is kept and pushed again after 1 to 512 s, then no more; a poll still has it [EVT12]", async () => {
  await using env = await openReceiver(rejects());
  await authorised(env);
  for (let seconds = 0; seconds < 2000 && env.received.length < 11; seconds++) await pushedLater(env, 1000);
  const at = env.received.map((received) => received.at);
  const waits = at.slice(1).map((time, index) => (time - (at[index] ?? 0)) / 1000);
  assertEquals(waits.length, 10);
  for (const [index, wait] of waits.entries()) {
    const least = 2 ** index;
    assert(wait >= least && wait <= least * 1.25 + 1, `${wait} s after ${index} failures`);
  }
  assertEquals(await pushedLater(env, 600_000), 0);
  assertEquals(new Set((await receivedEvents(env)).map(({ jti }) => jti)).size, 1);
  const [event] = await waiting(env);
  assertEquals(event?.what, "consent-authorised Authorized");
  const dead = env.logged.map((line) => JSON.parse(line) as LogLine)
    .find(({ event }) => event === "event.dead");
  assertEquals([dead?.jti, dead?.failures, dead?.why], [event?.jti, 11, "status 400, err invalid_key"]);
});

Deno.test("a dead event keeps neither others nor later ones of its resource waiting [EVT12, EVT13]", async () => {
  await using env = await openReceiver(rejects());
  const flow = await authorised(env);
  for (let pushes = 0; pushes < 11; pushes++) await pushedLater(env, 700_000);
  env.answer = acknowledges;
  env.now -= 7_700_000 - 60_000;
  env.received.length = 0;
  await good(pay(env, flow), 201);
  await authorised(env);
  await env.platform.deliverEvents();
  assertEquals((await receivedEvents(env)).map(({ what }) => what).toSorted(), [
    "consent-authorised Authorized",
    "consent-consumed Consumed",
    "payment-status-changed AcceptedSettlementInProcess",
  ]);
  assertEquals((await waiting(env)).map(({ resource }) => resource), [flow.consentId]);
});

const NOT_TAKEN: Readonly<Record<string, readonly [ReceiverAnswer, message: string]>> = {
  "200": [() => new Response("ok"), "status must be 202, which acknowledges the event; got 200."],
  "204": [
    () => new Response(null, { status: 204 }),
    "status must be 202, which acknowledges the event; got 204.",
  ],
  "a redirect": [
    () => new Response(null, { status: 307, headers: { location: "https://10.0.0.1/" } }),
    "status must be 202, which acknowledges the event; got 307.",
  ],
  "401": [
    () => new Response(null, { status: 401 }),
    "status must be 202, which acknowledges the event; got 401.",
  ],
  "400 with a body that is no JSON": [
    () => new Response("<html>", { status: 400 }),
    "status must be 202, which acknowledges the event; got 400.",
  ],
  "400 with a body without end": [
    () => new Response(endless(), { status: 400 }),
    "status must be 202, which acknowledges the event; got 400.",
  ],
  "500": [
    () => new Response(null, { status: 500 }),
    "status must be 202, which acknowledges the event; got 500.",
  ],
  "no connection": [
    () => Promise.reject(new TypeError("refused")),
    "the response must be complete within 5 s; got TypeError.",
  ],
};

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1024).fill(32)) });
}

Deno.test("only 202 acknowledges; the TPP sees what it answered in the trace of the request [EVT11, EVT16]", async (t) => {
  await steps(t, NOT_TAKEN, async ([answer, message]) => {
    await using env = await openReceiver(answer);
    const { consentId } = await authorised(env);
    assertEquals(await env.platform.deliverEvents(), 1);
    const [event] = await waiting(env);
    assertEquals(event?.resource, consentId);
    const traces = await tracesAt(env, `?consent_id=${consentId}`);
    const [trace] = traces.filter(({ Endpoint }) => Endpoint === "event_notification_uri");
    assertEquals(trace?.Rejection, { Reason: "event.not_acknowledged", Message: message });
    assertEquals(trace?.InteractionId, event?.claims.txn);
    env.answer = acknowledges;
    assertEquals(await pushedLater(env, 1250), 1);
    assertEquals(await waiting(env), []);
  });
});

test("a receiver that is away for days catches up within 11 minutes, and no event is lost [EVT12, T3]", async ({ env }) => {
  const flows = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => authorised(env)));
  for (let hours = 0; hours < 72; hours++) await pushedLater(env, 3_600_000);
  assertEquals((await waiting(env)).length, 8);
  env.answer = acknowledges;
  env.received.length = 0;
  for (let seconds = 0; seconds < 660; seconds += 10) await pushedLater(env, 10_000);
  const taken = (await receivedEvents(env)).map(({ resource }) => resource);
  assertEquals(taken.toSorted(), flows.map(({ consentId }) => consentId).toSorted());
  assertEquals(await waiting(env), []);
});

test("a receiver that is away gets few pushes: a breaker counts its outages, and no rejections [EVT12]", async ({ env }) => {
  for (let count = 0; count < 12; count++) await authorised(env);
  await env.platform.deliverEvents();
  env.received.length = 0;
  for (let seconds = 0; seconds < 25; seconds++) await pushedLater(env, 1000);
  assertEquals(env.received.length, 0);
  env.answer = rejects();
  await pushedLater(env, 10_000); // a probe: the receiver is there
  env.received.length = 0;
  await pushedLater(env, 1000);
  assert(env.received.length > 2, `${env.received.length} pushes`);
});

test("an event that a poll acknowledges is pushed no more, and one that is pushed is not polled [EVT14]", async ({ env }) => {
  await authorised(env);
  await env.platform.deliverEvents();
  const [{ jti } = { jti: "" }] = await waiting(env);
  await polled(env, { ack: [jti], returnImmediately: true });
  env.answer = acknowledges;
  assertEquals(await pushedLater(env, 3_600_000), 0);
});

Deno.test("two processes push each event once [EVT13, T3]", async () => {
  await using env = await openReceiver();
  const other = await anotherProcess(env);
  const flows = await Promise.all([1, 2, 3, 4, 5, 6].map(() => authorised(env)));
  await Promise.all([env.platform, other, env.platform, other].map((platform) => platform.deliverEvents()));
  const taken = (await receivedEvents(env)).map(({ resource }) => resource);
  assertEquals(taken.toSorted(), flows.map(({ consentId }) => consentId).toSorted());
  await other.stop();
});

Deno.test("a process that has found an event before another one leased it does not push it [EVT13, T3]", async () => {
  const answered = Promise.withResolvers<Response>();
  await using env = await openReceiver(() => answered.promise);
  await authorised(env);
  const [found, mayGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: Store = {
    ...env.store,
    async list<T>(listing: Listing): Promise<Entry<T>[]> {
      const listed = await env.store.list<T>(listing);
      if (listing.prefix[0] !== "event" || listing.limit === 1) return listed;
      found.resolve();
      await mayGo.promise;
      return listed;
    },
  };
  const other = await anotherProcess(Object.assign(Object.create(env), { store: slow }));
  const second = other.deliverEvents();
  await found.promise;
  const first = env.platform.deliverEvents();
  while (env.received.length === 0) await new Promise((done) => setTimeout(done, 5));
  mayGo.resolve();
  assertEquals([await second, env.received.length], [0, 1]);
  answered.resolve(acknowledges());
  assertEquals(await first, 1);
  await other.stop();
});

Deno.test("an event whose process ends during its push is pushed again by another one [EVT13]", async () => {
  await using env = await openReceiver(silent);
  await authorised(env);
  const hung = env.platform.deliverEvents();
  while (env.received.length === 0) await new Promise((done) => setTimeout(done, 5));
  const other = await anotherProcess(env);
  env.answer = acknowledges;
  assertEquals(await other.deliverEvents(), 0); // leased
  env.now += 15_001;
  assertEquals(await other.deliverEvents(), 1);
  assertEquals(new Set((await receivedEvents(env)).map(({ jti }) => jti)).size, 1);
  assertEquals(await waiting(env), []);
  await other.stop();
  assertEquals(await hung, 1); // its failure does not bring the event back
  assertEquals(await waiting(env), []);
});

const STOPPED: Readonly<Record<string, (env: ReceiverEnvironment) => Promise<unknown>>> = {
  "an operator has blocked": block,
  "the directory has suspended": (env) => setOrganisation(env, env.tpp, "Suspended"),
  "has ended its subscription": unsubscribe,
  "has changed its subscription to polling": async (env) => {
    const { EventSubscriptionId: id } = firstOf(await subscriptions(env));
    await good(subscription(env, { Version: "4.0" }, { method: "PUT", id }), 200);
  },
  "has registered a statement without the address": async (env) => {
    const key = ["client", env.tpp.clientId];
    const entry = await env.store.get<Record<string, unknown>>(key);
    const { eventNotificationUri: _, ...value } = entry?.value ?? {};
    await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
  },
  "has registered a statement with another address": async (env) => {
    const key = ["client", env.tpp.clientId];
    const entry = await env.store.get<Record<string, unknown>>(key);
    const value = { ...entry?.value, eventNotificationUri: "https://elsewhere.example/events" };
    await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
  },
  "is registered no more": async (env) => {
    await env.store.commit({ checks: [], writes: [{ kind: "delete", key: ["client", env.tpp.clientId] }] });
  },
};

Deno.test("nothing is pushed to a TPP that [EVT11]", async (t) => {
  await steps(t, STOPPED, async (stop) => {
    await using env = await openReceiver();
    await authorised(env);
    await stop(env);
    env.now += BOUND_MS;
    assertEquals([await pushedLater(env, 1000), env.received.length], [0, 0]);
    const keys = await env.snapshot();
    assertEquals(keys.filter(({ key }) => key[0] === "event").length, 1);
  });
});

Deno.test("each TPP gets its own events alone, of the banks at which it has subscribed [EVT5, EVT11]", async () => {
  await using env = await openReceiver();
  const { consentId } = await authorised(env);
  await subscribed(env, { by: env.otherTpp, callback: OTHER_CALLBACK });
  await env.platform.deliverEvents();
  assertEquals(env.received.map(({ request }) => request.url), [CALLBACK]);
  assertEquals((await receivedEvents(env)).map(({ resource }) => resource), [consentId]);
});
