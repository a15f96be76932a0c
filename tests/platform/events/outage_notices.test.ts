/** Planned outages reach every TPP once (contract EVT18). */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { present, type ServerMetadata } from "testing/answers.ts";
import type { PlannedOutage } from "testing/operation_answers.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { clientKey } from "../../../src/platform/config/store_keys.ts";
import type { ClientId } from "../../../src/base/kernel/identifiers.ts";
import { anotherProcess } from "support/processes.ts";
import { test } from "support/environment_test.ts";
import { authorised } from "testing/authorization_flow.ts";
import { beforeCommit } from "./interrupted.ts";
import { openReceiver, pushedLater, receivedEvents } from "./receiver.ts";
import { EVENTS, poll, type Polled, polled, waiting } from "./poll.ts";
import { unchanged } from "testing/store_contents.ts";

const REASON = "Announced by the bank's desk.";
const HOUR = 3_600_000;

async function operate(env: Environment, path: string, Data: object): Promise<PlannedOutage> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ Data: { Reason: REASON, ...Data } }) };
  return await good<PlannedOutage>(
    env.asOperator(`/operations/banks/${path}`, init),
    path.endsWith("outages") ? 201 : 200,
  );
}

/** Announces an outage in an hour, and returns its id. */
async function announce(env: Environment): Promise<string> {
  const [from, until] = [env.now + HOUR, env.now + 2 * HOUR].map((time) => new Date(time).toISOString());
  const times = { FromDateTime: from, UntilDateTime: until, Text: "Maintenance." };
  return (await operate(env, "BANKA/outages", times)).Data.OutageId;
}

async function withdraw(env: Environment, id: string): Promise<void> {
  await operate(env, `BANKA/outages/${id}/cancel`, {});
}

function names(events: readonly Polled[]): readonly string[] {
  return events.map(({ what }) => what);
}

test("an outage that is announced and withdrawn has events for every TPP, at its bank alone [EVT18, EVT2]", async ({ env }) => {
  const begun = env.now;
  const id = await announce(env);
  await env.platform.spreadNotices();
  env.now += 60_000;
  await withdraw(env, id);
  await env.platform.spreadNotices();
  const [event, ended] = await waiting(env);
  assertEquals([event?.what, ended?.what], ["outage-announced announced", "outage-withdrawn withdrawn"]);
  const link = `${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`;
  const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "+00:00");
  const { iat, txn, ...claims } = present(event).claims;
  assert(typeof txn === "string" && iat === begun / 1000);
  assertEquals<object>(claims, {
    iss: `${AUTH_URL}/BANKA`,
    jti: event?.jti,
    aud: env.tpp.clientId,
    sub: link,
    toe: begun / 1000,
    events: {
      "urn:uk:org:openbanking:events:resource-update": {
        subject: {
          subject_type: "http://openbanking.org.uk/rid_http://openbanking.org.uk/rty",
          "http://openbanking.org.uk/rid": id,
          "http://openbanking.org.uk/rty": "planned-outage",
          "http://openbanking.org.uk/rlk": [{ version: "v1", link }],
        },
      },
      [`${AUTH_URL}/events/outage-announced`]: {
        status: "announced",
        status_at: time(begun),
        from: time(begun + HOUR),
        until: time(begun + 2 * HOUR),
        text: "Maintenance.",
      },
    },
  });
  assertEquals(names(await waiting(env, { by: env.otherTpp })).length, 2);
  assertEquals(await waiting(env, { bank: "BANKB" }), []);
  await good(poll(env, { ack: [event?.jti, ended?.jti], returnImmediately: true }), 200);
  assertEquals(await waiting(env), []);
  assertEquals((await waiting(env, { by: env.otherTpp })).length, 2, "each TPP acknowledges its own");
  const range = { from: new Date(begun).toISOString(), to: new Date(env.now + 1000).toISOString() };
  const options = { body: JSON.stringify(range), signature: null, idempotencyKey: null };
  const bound = await clientToken(env, env.tpp);
  assertEquals(await good(call(env, env.tpp, bound, `${EVENTS}/replay`, options), 200), { replayed: 2 });
  assertEquals((await waiting(env)).map(({ claims }) => claims), [event?.claims, ended?.claims]);
});

test("an outage with other times and text has them in an event and in force; a wrong change has neither [EVT18, OP7]", async ({ env }) => {
  const id = await announce(env);
  const [from, until] = [env.now + 3 * HOUR, env.now + 4 * HOUR];
  const wanted = {
    FromDateTime: new Date(from).toISOString(),
    UntilDateTime: new Date(until).toISOString(),
    Text: "Later.",
  };
  const { Data } = await operate(env, `BANKA/outages/${id}/change`, wanted);
  assertEquals([Data.OutageId, Data.Text], [id, "Later."]);
  const rejected = async (bank: string, other: string, change: object): Promise<number> => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ Data: { Reason: REASON, ...wanted, ...change } }),
    };
    const path = `/operations/banks/${bank}/outages/${other}/change`;
    const answer = await unchanged(env, () => env.asOperator(path, init));
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals(await rejected("BANKB", id, {}), 404);
  assertEquals(await rejected("BANKA", crypto.randomUUID(), {}), 404);
  assertEquals(await rejected("BANKA", id, { UntilDateTime: wanted.FromDateTime }), 400);
  await env.platform.spreadNotices();
  const events = await waiting(env);
  assertEquals(names(events), ["outage-announced announced", "outage-changed changed"]);
  assertEquals(events[1]?.resource, id);
  const text = events[1]?.claims.events[`${AUTH_URL}/events/outage-changed`]?.text;
  const { planned_outages } = await good<Pick<ServerMetadata, "planned_outages">>(
    env.browser(new Request(`${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`)),
    200,
  );
  assertEquals([text, planned_outages?.length, planned_outages?.[0]?.text], ["Later.", 1, "Later."]);
});

Deno.test("a notice of an outage is pushed, and an earlier one of the outage goes first [EVT18, EVT13]", async () => {
  await using env = await openReceiver(() => new Response(null, { status: 503 }));
  const id = await announce(env);
  await env.platform.spreadNotices();
  await withdraw(env, id);
  await env.platform.spreadNotices();
  await pushedLater(env, 1000);
  assertEquals(names(await receivedEvents(env)), ["outage-announced announced"]);
  env.answer = () => new Response(null, { status: 202 });
  await pushedLater(env, 2000);
  assertEquals(names(await receivedEvents(env)).slice(1), [
    "outage-announced announced",
    "outage-withdrawn withdrawn",
  ]);
  assertEquals(await waiting(env), []);
});

/** Adds TPPs to the register. A page of the job has 200 clients. */
async function addTpps(env: Environment, count: number): Promise<void> {
  const known = await env.store.get<object>(clientKey(env.tpp.clientId as ClientId));
  const writes = Array.from({ length: count }, () => {
    const clientId = `SC-${crypto.randomUUID()}` as ClientId;
    return { kind: "set" as const, key: clientKey(clientId), value: { ...known?.value, clientId } };
  });
  for (let start = 0; start < count; start += 100) {
    await env.store.commit({ checks: [], writes: writes.slice(start, start + 100) });
  }
}

async function noticesByTpp(env: Environment): Promise<readonly number[]> {
  const clients = await env.store.list<{ readonly role: string; readonly clientId: string }>({
    prefix: ["client"],
    limit: 1000,
  });
  const notices = await env.store.list({ prefix: ["event_notice"], limit: 1000 });
  return clients.filter(({ value }) => value.role === "PISP").map(({ value: { clientId } }) =>
    notices.filter(({ key }) => key[1] === clientId).length
  );
}

test("every TPP has one notice if the job stops after each page and processes share it [EVT18]", async ({ env }) => {
  await addTpps(env, 450);
  await announce(env);
  assertEquals(new Set(await noticesByTpp(env)), new Set([0]), "the commit of the change has one record");
  const other = await anotherProcess(env);
  await Promise.all([env.platform.spreadNotices(), other.spreadNotices()]);
  await env.restart();
  await env.platform.spreadNotices();
  const notices = await noticesByTpp(env);
  assertEquals([notices.length, new Set(notices)], [452, new Set([1])]);
  assertEquals(await env.store.list({ prefix: ["notice_spread"], limit: 9 }), []);
});

test("a page of notices and its place are one commit: an interrupted one is made again, with no second notice [EVT18]", async ({ env }) => {
  await addTpps(env, 250);
  await announce(env);
  let commits = 0;
  const mend = beforeCommit(env.store, "notice_spread", () => {
    if (++commits === 2) throw new Error("the process is killed");
  });
  await assertRejects(() => env.platform.spreadNotices());
  mend();
  const counts = await noticesByTpp(env);
  assert(counts.includes(0) && counts.includes(1), "a part is done");
  await env.restart();
  await env.platform.spreadNotices();
  assertEquals(new Set(await noticesByTpp(env)), new Set([1]));
});

test("a process that was slower than another one stages nothing: an acknowledged notice does not come again [EVT18]", async ({ env }) => {
  const other = await anotherProcess(env);
  await announce(env);
  let acknowledged = 0;
  const mend = beforeCommit(env.store, "notice_spread", async () => {
    mend();
    await other.spreadNotices();
    const ack = (await waiting(env)).map(({ jti }) => jti);
    acknowledged = ack.length;
    await good(poll(env, { ack, returnImmediately: true }), 200);
  });
  await env.platform.spreadNotices();
  assertEquals(acknowledged, 1);
  assertEquals(await waiting(env), []);
});

test("a poll returns events and notices in one order, the oldest first, in pages [EVT18, EVT3]", async ({ env }) => {
  for (let times = 0; times < 2; times++) {
    await authorised(env);
    env.now += 60_000;
    await announce(env);
    await env.platform.spreadNotices();
    env.now += 60_000;
  }
  const seen: string[] = [];
  for (let pages = 0, more = true; more && pages < 4; pages++) {
    const { events, moreAvailable } = await polled(env, { maxEvents: 3, returnImmediately: true });
    seen.push(...names(events));
    await good(poll(env, { ack: events.map(({ jti }) => jti), maxEvents: 0, returnImmediately: true }), 200);
    more = moreAvailable;
  }
  const [consent, outage] = ["consent-authorised Authorized", "outage-announced announced"];
  assertEquals(seen, [consent, outage, consent, outage]);
});
