/** `POST /{BANK}/back-channel-events/v1`: what a bank learns of its customers' consents and payments (contract EVT19). */
import { assertEquals } from "@std/assert";
import { type AnswerOf, type EventPage, present } from "testing/answers.ts";
import type { JsonObject } from "testing/jwts.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { bankCall } from "testing/back_channel.ts";
import { AUTH_URL, BASE_URL, type Environment } from "testing/environment.ts";
import { call, clientToken, createConsent, good, push } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { down, later, openPushEnvironment, paid, type PushEnvironment, report } from "support/orders.ts";
import { test } from "support/environment_test.ts";
import { poll, type Polled, verified, waiting } from "../../events/poll.ts";
import { refused } from "../../events/refused.ts";
import { unchanged } from "testing/store_contents.ts";

const PATH = "/BANKA/back-channel-events/v1";
const NOW = { returnImmediately: true };

function pollAs(
  env: Environment,
  by: Participant,
  body: JsonObject = NOW,
  path = PATH,
): Promise<AnswerOf<EventPage>> {
  return bankCall(env, by, path, { body: JSON.stringify(body), signature: null, idempotencyKey: null });
}

async function told(env: Environment, by = env.bankA): Promise<readonly Polled[]> {
  const { sets } = await good(pollAs(env, by, NOW, `/${by.orgId}/back-channel-events/v1`), 200);
  return await Promise.all(Object.entries<string>(sets).map(([jti, token]) => verified(env, jti, token)));
}

async function closed(env: PushEnvironment, id: string): Promise<void> {
  const Data = { Reason: "The bank's desk says so.", StatusReason: "Not taken.", MayBeAtBank: true };
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ Data }) };
  await good(env.asOperator(`/operations/payment-orders/${id}/close`, init), 200);
}

test("a bank learns which consents have ended of customers that it had, and of no others [EVT19]", async ({ env }) => {
  const { consentId: rejected } = await refused(env);
  const { consentId: left } = await toBank(env);
  const { consentId: unused } = await authorised(env);
  const bound = await clientToken(env, env.tpp);
  const { Data: { ConsentId: never } } = await createConsent(env, bound);
  const { Data: { ConsentId: pushed } } = await createConsent(env, bound);
  await good(push(env, pushed), 201); // and its customer never comes
  env.now += 86_400_000 + 5000;
  await env.platform.sweepConsents();
  const events = await told(env);
  assertEquals(
    events.map(({ what, resource }) => `${what} ${resource}`).toSorted(),
    [
      `consent-rejected Rejected ${rejected}`,
      `consent-expired Rejected ${left}`,
      `consent-expired Rejected ${unused}`,
    ].toSorted(),
  );
  assertEquals(
    (await waiting(env)).some(({ resource }) => resource === never),
    true,
    "the TPP has its event",
  );
  assertEquals(await told(env, env.bankB), []);
  const event = events.find(({ resource }) => resource === left);
  const link = `${BASE_URL}/BANKA/back-channel-auth/v1/${left}`;
  const { iss, aud, sub, txn, toe } = present(event).claims;
  assertEquals([iss, aud, sub, txn, toe], [
    `${AUTH_URL}/BANKA`,
    env.bankA.clientId,
    link,
    left,
    (env.now - 5000) / 1000,
  ]);
  assertEquals((await bankCall(env, env.bankA, new URL(link).pathname)).status, 200);
});

test("a bank acknowledges its own events alone, and a TPP's are not touched [EVT19, EVT4, EVT-N6]", async ({ env }) => {
  await refused(env);
  const [event] = await told(env);
  const before = (await waiting(env)).map(({ jti }) => jti);
  const ack = { ack: [event?.jti, ...before], ...NOW };
  const options = { body: JSON.stringify(ack), signature: null, idempotencyKey: null };
  for (const [by, bank] of [[env.tpp, "BANKA"], [env.bankB, "BANKB"]] as const) {
    const bound = await clientToken(env, by, bank);
    const answer = await unchanged(env, () => bankCall(env, by, PATH, { ...options, bound }));
    assertEquals([401, 403].includes(answer.status), true, String(answer.status));
    await answer.body?.cancel();
  }
  await good(poll(env, { ack: [event?.jti], ...NOW }), 200); // the TPP has no such event
  assertEquals((await told(env)).length, 1);
  assertEquals((await good(pollAs(env, env.bankA, ack), 200)).sets, {});
  assertEquals((await waiting(env)).map(({ jti }) => jti), before);
});

test("an event that the bank cannot use comes again later [EVT19, EVT6]", async ({ env }) => {
  await refused(env);
  const [event] = await told(env);
  const setErrs = { [event?.jti ?? ""]: { err: "invalid_key", description: "unknown kid" } };
  assertEquals((await good(pollAs(env, env.bankA, { setErrs, ...NOW }), 200)).sets, {});
  env.now += 1000;
  assertEquals((await told(env)).map(({ jti }) => jti), [event?.jti]);
  env.now += 7 * 86_400_000;
  assertEquals(await told(env), [], "it ends after PLATFORM_EVENT_DAYS");
});

Deno.test("a bank learns of a closed order and of a dispute about it, also in one millisecond [EVT19, DSP6]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  await closed(env, id);
  const body = JSON.stringify({
    Data: { DomesticPaymentId: id, Action: "Open", Statement: "It never came." },
  });
  const bound = await clientToken(env, env.tpp);
  await good(call(env, env.tpp, bound, "/BANKA/disputes/v1", { body }), 201);
  assertEquals((await told(env)).map(({ what }) => what), [
    "payment-closed Rejected",
    "dispute-changed Open",
  ]);
});

Deno.test("a bank learns once that an operator has closed its order, and not of what it reports itself [EVT19, O3]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id, ConsentId } = await paid(env);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  await closed(env, id);
  const events = await told(env);
  assertEquals(events.map(({ what, resource }) => `${what} ${resource}`), [`payment-closed Rejected ${id}`]);
  const consent_id = events[0]?.claims.events[`${AUTH_URL}/events/payment-closed`]?.consent_id;
  assertEquals([consent_id, events[0]?.claims.sub], [
    ConsentId,
    `${BASE_URL}/BANKA/back-channel-payments/v1/${id}`,
  ]);
  await good(report(env, id, "AcceptedSettlementInProcess"), 200);
  assertEquals((await told(env)).length, 1);
});
