/** `POST /{BANK}/events/v1`: what a TPP gets, and how it acknowledges it (contract EVT2 to EVT6). */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { type Payment, present } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { paidAt, putStatus } from "testing/back_channel.ts";
import { AUTH_URL, BASE_URL, openEnvironment } from "testing/environment.ts";
import { call, clientToken, createConsent, good, pay } from "testing/flows.ts";
import { UUID, verifyAnswer } from "testing/resource_answers.ts";
import { erase } from "support/personal_case.ts";
import { later, openPushEnvironment, paid, report } from "support/orders.ts";
import { anotherProcess, at } from "support/processes.ts";
import { test } from "support/environment_test.ts";
import { type EventDetails, EVENTS, poll, polled, waiting } from "./poll.ts";
import { refused } from "./refused.ts";

const ACK_ONLY = { maxEvents: 0, returnImmediately: true };

test("a TPP learns the fate of a payment from its events alone, in order [EVT1, EVT3]", async ({ env }) => {
  const { data, flow } = await paidAt(env, env.bankA);
  env.now += 60_000;
  await good(putStatus(env, env.bankA, data.DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  const { events, moreAvailable } = await polled(env);
  assertEquals(events.map(({ what, resource }) => [what, resource]), [
    ["consent-authorised Authorized", flow.consentId],
    ["consent-consumed Consumed", flow.consentId],
    ["payment-status-changed AcceptedSettlementInProcess", data.DomesticPaymentId],
    ["payment-status-changed AcceptedSettlementCompleted", data.DomesticPaymentId],
  ]);
  assertEquals(moreAvailable, false);
});

test("consents that are refused or expire have events that say which [EVT1]", async ({ env }) => {
  const { consentId } = await refused(env);
  const open = (await createConsent(env, await clientToken(env, env.tpp))).Data.ConsentId;
  const unused = await authorised(env);
  env.now += 86_400_000 + 5000;
  await env.platform.sweepConsents();
  const events = await waiting(env);
  assertEquals(
    events.map(({ what, resource }) => `${what} ${resource}`).toSorted(),
    [
      `consent-rejected Rejected ${consentId}`,
      `consent-authorised Authorized ${unused.consentId}`,
      `consent-expired Rejected ${unused.consentId}`,
      `consent-expired Rejected ${open}`,
    ].toSorted(),
  );
  const { claims } = events.find(({ resource }) => resource === open) ?? {};
  assertEquals(claims?.toe, (env.now - 5000) / 1000); // the deadline
  assertEquals(claims?.txn, open); // no request has caused it
});

test("an event is a security event token with OBIE's claims [EVT2]", async ({ env }) => {
  const { DomesticPaymentId: id, ConsentId } = (await paidAt(env, env.bankA)).data;
  env.now += 60_000;
  const reported = new Date(env.now - 10_000).toISOString();
  const interaction = crypto.randomUUID();
  const Data = { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: reported };
  const headers = { "x-fapi-interaction-id": interaction };
  await good(putStatus(env, env.bankA, id, Data, { headers }), 200);
  const [event] = (await waiting(env)).slice(-1);
  const { alg, typ, kid, ...header } = present(event).header;
  assertEquals([alg, typ, header], ["PS256", "secevent+jwt", {}]);
  assertMatch(kid, /^[\w-]{27}$/);
  const resource = `${BASE_URL}/BANKA/domestic-payments/v1/${id}`;
  assertEquals<object | undefined>(event?.claims, {
    iss: `${AUTH_URL}/BANKA`,
    iat: env.now / 1000,
    jti: event?.jti,
    aud: env.tpp.clientId,
    sub: resource,
    txn: interaction,
    toe: (env.now - 10_000) / 1000,
    events: {
      "urn:uk:org:openbanking:events:resource-update": {
        subject: {
          subject_type: "http://openbanking.org.uk/rid_http://openbanking.org.uk/rty",
          "http://openbanking.org.uk/rid": id,
          "http://openbanking.org.uk/rty": "domestic-payment",
          "http://openbanking.org.uk/rlk": [{ version: "v1", link: resource }],
        },
      },
      [`${AUTH_URL}/events/payment-status-changed`]: {
        status: "AcceptedSettlementCompleted",
        status_at: reported.replace(/\.\d+Z$/, "+00:00"),
        consent_id: ConsentId,
      },
    },
  });
  assert(event !== undefined && event.jti.length <= 128);
  const bound = await clientToken(env, env.tpp);
  const { Data: read } = await good<Payment>(call(env, env.tpp, bound, new URL(resource).pathname), 200);
  assertEquals(read.Status, "AcceptedSettlementCompleted");
});

Deno.test("the event of a rejected payment has the bank's reason, until the case is erased [EVT2, G6]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const { data } = await paidAt(env, env.bankA);
  const Data = {
    Status: "Rejected",
    StatusUpdateDateTime: new Date(env.now).toISOString(),
    StatusReason: "AC04 The account of Jane Doe is closed",
  };
  await good(putStatus(env, env.bankA, data.DomesticPaymentId, Data), 200);
  const own = async (): Promise<EventDetails | undefined> =>
    (await waiting(env)).at(-1)?.claims.events[`${AUTH_URL}/events/payment-status-changed`];
  assertEquals((await own())?.reason, Data.StatusReason);
  const stored = await env.raw.list({ prefix: ["event"], limit: 99 });
  assertEquals(stored.length, 4);
  assert(!JSON.stringify(stored).includes("Jane"), "the event itself holds no text of the bank");
  env.now += 1000;
  await env.platform.growLog(); // a case is as old as its newest entry in the log
  await env.platform.followTime();
  env.now += 86_400_000;
  await env.platform.followTime();
  assertEquals((await erase(env, data.ConsentId)).status, 200);
  const { reason, status } = await own() ?? {};
  assertEquals([reason, status], [undefined, "Rejected"]);
});

Deno.test("an event has the same claims each time, whatever has become of its payment since [EVT2, EVT4, EVT15]", async () => {
  await using env = await openPushEnvironment(() => new Response(null, { status: 400 }));
  const { DomesticPaymentId: id } = await paid(env);
  await later(env, 0);
  const close = JSON.stringify({
    Data: { Reason: "The bank has no such order.", StatusReason: "Not taken." },
  });
  const headers = { "content-type": "application/json" };
  await good(
    env.asOperator(`/operations/payment-orders/${id}/close`, { method: "POST", headers, body: close }),
    200,
  );
  const closed = present((await waiting(env)).at(-1));
  const details = closed.claims.events[`${AUTH_URL}/events/payment-status-changed`];
  assertEquals([details?.status, details?.reason], ["Rejected", "Not taken."]);
  await good(report(env, id, "AcceptedSettlementInProcess"), 200);
  const again = async (): Promise<unknown> =>
    (await waiting(env)).find(({ jti }) => jti === closed.jti)?.claims;
  assertEquals(await again(), closed.claims);
  await good(poll(env, { ...ACK_ONLY, ack: [closed.jti] }), 200);
  assertEquals(await again(), undefined);
  const [from, to] = [env.now - 3_600_000, env.now + 1000].map((time) => new Date(time).toISOString());
  const body = JSON.stringify({ from, to });
  await good(
    call(env, env.tpp, await clientToken(env, env.tpp), `${EVENTS}/replay`, {
      body,
      signature: null,
      idempotencyKey: null,
    }),
    200,
  );
  assertEquals(await again(), closed.claims, "after a replay");
});

test("the answer is signed, and its jti are those of the tokens [EVT3]", async ({ env }) => {
  await authorised(env);
  const answer = await poll(env);
  assertEquals(answer.status, 200);
  await verifyAnswer(env, answer);
  const { events } = await polled(env);
  assertEquals(events.map(({ jti, claims }) => jti === claims.jti), [true]);
});

test("an event is returned until it is acknowledged, with the same jti and claims [EVT4]", async ({ env }) => {
  await authorised(env);
  const first = await waiting(env);
  env.now += 5000;
  const again = await waiting(env);
  assertEquals(again.map(({ claims }) => claims), first.map(({ claims }) => claims));
  const [{ jti } = { jti: "" }] = first;
  assertEquals(await polled(env, { ...ACK_ONLY, ack: [jti, jti, "unknown", crypto.randomUUID()] }), {
    events: [],
    moreAvailable: false,
  });
  assertEquals(await waiting(env), []);
  assertEquals((await poll(env, { ...ACK_ONLY, ack: [jti] })).status, 200, "a second time has no effect");
  assertEquals((await env.store.list({ prefix: ["event"], limit: 9 })).length, 0);
});

test("a poll acknowledges and returns the next events, as many as it asks for [EVT3, EVT4]", async ({ env }) => {
  const { data } = await paidAt(env, env.bankA);
  await good(putStatus(env, env.bankA, data.DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  const all = await waiting(env);
  const seen: string[] = [];
  let ack: string[] = [];
  for (let expected = 3; expected >= 0; expected--) {
    const { events, moreAvailable } = await polled(env, { ack, maxEvents: 1, returnImmediately: true });
    assertEquals([events.length, moreAvailable], [1, expected > 0]);
    ack = events.map(({ jti }) => jti);
    seen.push(...ack);
  }
  assertEquals(seen, all.map(({ jti }) => jti));
  assertEquals((await polled(env, { ack, returnImmediately: true })).events, []);
  assertEquals((await polled(env, ACK_ONLY)).moreAvailable, false);
});

test("a response has at most 50 events; further ones come with the next [EVT3]", async ({ env }) => {
  await authorised(env);
  const [model] = await env.store.list<object>({ prefix: ["event"], limit: 1 });
  const places = Array.from(
    { length: 120 },
    (_, n) => [String(env.now + n).padStart(15, "0"), crypto.randomUUID()],
  );
  await env.store.commit({
    checks: [],
    writes: places.map((place) => ({
      kind: "set",
      key: [...model?.key.slice(0, 3) ?? [], ...place],
      value: model?.value,
    })),
  });
  const sizes: number[] = [];
  let ack: string[] = [];
  for (let more = true; more;) {
    const { events, moreAvailable } = await polled(env, { ack, maxEvents: 1000, returnImmediately: true });
    sizes.push(events.length);
    ack = events.map(({ jti }) => jti);
    more = moreAvailable;
  }
  assertEquals(sizes, [50, 50, 21]);
});

test("a client has its own events alone, of the bank in the path [EVT5, A3]", async ({ env }) => {
  await authorised(env);
  const [{ jti } = { jti: "" }] = await waiting(env);
  const other = { by: env.otherTpp };
  assertEquals(await waiting(env, other), []);
  assertEquals(await waiting(env, { bank: "BANKB" }), []);
  await polled(env, { ...ACK_ONLY, ack: [jti], setErrs: {} }, other);
  await polled(env, { ...ACK_ONLY, setErrs: { [jti]: { err: "jwtParse", description: "x" } } }, other);
  await polled(env, { ...ACK_ONLY, ack: [jti] }, { bank: "BANKB" });
  assertEquals((await waiting(env)).map((event) => event.jti), [jti]);
});

test("an event with an error is sent again after 1, 2, 4 … 512 s, and others meanwhile [EVT6]", async ({ env }) => {
  const { consentId } = await authorised(env);
  const [{ jti } = { jti: "" }] = await waiting(env);
  const setErrs = { [jti]: { err: "invalid_key", description: "The key of Jane Doe is not known." } };
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 512]) {
    assertEquals((await polled(env, { setErrs, returnImmediately: true })).events, []);
    env.now += seconds * 1000 - 1;
    assertEquals(await waiting(env), []);
    env.now += 1;
    assertEquals((await waiting(env)).map((event) => event.jti), [jti]);
  }
  await polled(env, { setErrs, returnImmediately: true });
  await authorised(env);
  assertNotEquals((await waiting(env)).map(({ resource }) => resource), [consentId]);
  assertEquals((await waiting(env)).length, 1);
  const lines = env.logged.filter((line) => line.includes("events.rejected"));
  assertEquals(lines.length, 12);
  assertMatch(lines[0] ?? "", /"err":"invalid_key"/);
  assert(!env.logged.some((line) => line.includes("Jane")));
  await polled(env, { ack: [jti], setErrs, returnImmediately: true });
  env.now += 600_000;
  assertEquals((await waiting(env)).map((event) => event.jti).includes(jti), false, "ack counts more");
});

test("an event that is acknowledged while an error with it is recorded stays acknowledged [EVT4, EVT6]", async ({ env }) => {
  await authorised(env);
  const [{ jti } = { jti: "" }] = await waiting(env);
  const setErrs = { [jti]: { err: "invalid_key", description: "Unknown." } };
  await Promise.all([
    poll(env, { ...ACK_ONLY, setErrs }),
    poll(env, { ...ACK_ONLY, ack: [jti] }),
    poll(env, { ...ACK_ONLY, setErrs }),
  ]);
  env.now += 600_000;
  assertEquals(await waiting(env), []);
});

Deno.test("an event that nobody acknowledges ends after PLATFORM_EVENT_DAYS [EVT7]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_EVENT_DAYS: "2" } });
  await authorised(env);
  env.now += 2 * 86_400_000 - 1;
  assertEquals((await waiting(env)).length, 1);
  env.now += 1;
  assertEquals(await waiting(env), []);
});

Deno.test("the events of a payment that a bank rejects at once reach another process [EVT3, M1]", async () => {
  await using env = await openPushEnvironment(() =>
    Response.json({ Status: "Rejected", StatusReason: "AM04" })
  );
  const { DomesticPaymentId: id } = await paid(env);
  const other = await anotherProcess(env);
  const events = await waiting(at(env, other));
  assertEquals(events.filter(({ resource }) => resource === id).map(({ what }) => what), [
    "payment-status-changed Pending",
    "payment-status-changed Rejected",
  ]);
  await other.stop();
});

test("a request of the customer's browser is the txn of the events that it causes [EVT2]", async ({ env }) => {
  const { flow } = await paidAt(env, env.bankA);
  await good(pay(env, flow), 400);
  const [authorisation, consumption, creation] = (await waiting(env)).map(({ claims }) => claims.txn);
  assertMatch(authorisation, UUID);
  assertEquals(consumption, creation);
  assertNotEquals(authorisation, creation);
});
