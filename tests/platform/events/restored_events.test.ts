/** Events of TPPs after a restore (Decisions G9, T1). */
import { assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { good, pay } from "testing/flows.ts";
import { openBookEnvironment } from "support/bank_books.ts";
import { copyOf, endHolds, restore } from "support/restored_store.ts";
import { polled, waiting } from "./poll.ts";
import { openReceiver, receivedEvents } from "./receiver.ts";

const RECONCILE = "/operations/order-holds/BANKA/reconcile";

Deno.test("a restore tells the TPP of each consent that it voids and of each payment that it recovers [EVT1, G9]", async () => {
  await using env = await openBookEnvironment();
  const paidLater = await authorised(env);
  const unused = await authorised(env);
  const copy = await copyOf(env);
  const { DomesticPaymentId: id } = (await good(pay(env, paidLater), 201)).Data;
  await polled(env, { ack: (await waiting(env)).map(({ jti }) => jti), returnImmediately: true });
  env.now += 60_000;
  await restore(env, copy);
  assertEquals((await env.operate(RECONCILE, ""))[0], 200);
  await endHolds(env);
  const events = await waiting(env);
  const of = (resource: string): readonly string[] =>
    events.filter((event) => event.resource === resource).map(({ what }) => what);
  const again = "consent-authorised Authorized"; // acknowledged after the copy was taken
  assertEquals(of(unused.consentId), [again, "consent-rejected Rejected"]);
  assertEquals(of(paidLater.consentId), [again, "consent-rejected Rejected", "consent-consumed Consumed"]);
  assertEquals(of(id), ["payment-status-changed AcceptedSettlementInProcess"]);
  assertEquals(new Set(events.map(({ jti }) => jti)).size, events.length);
});

Deno.test("after a restore the subscription of the copy is pushed to again, and an event that was taken since comes again with its jti [EVT12, T2]", async () => {
  await using env = await openReceiver();
  await authorised(env);
  const copy = await copyOf(env);
  await env.platform.deliverEvents();
  const [before] = await receivedEvents(env);
  env.received.length = 0;
  env.now += 60_000;
  await restore(env, copy);
  await env.platform.deliverEvents();
  const again = await receivedEvents(env);
  assertEquals(again.map(({ what }) => what), ["consent-authorised Authorized", "consent-rejected Rejected"]);
  assertEquals([again[0]?.jti, again[0]?.claims], [before?.jti, before?.claims]);
  assertEquals((await env.store.list({ prefix: ["event"], limit: 10 })).length, 0);
});
