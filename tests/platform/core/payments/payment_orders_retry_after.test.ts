/** While a bank asks for a pause, no order of that TPP is pushed to it; other TPPs and other banks go on [D4]. */
import { assertEquals } from "@std/assert";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  accepts,
  later,
  openPushEnvironment,
  outboxOrder,
  paid,
  type PushEnvironment,
  statusOf,
} from "support/orders.ts";

const OTHER_URI = "https://bank-b.example/payment-orders";

Deno.test("A Retry-After of the bank holds back the TPP's further orders as well, until it is over [D4]", async () => {
  await using env = await openPushEnvironment(busy("40"));
  const first = await paid(env);
  env.answer = accepts;
  const second = await paid(env);
  assertEquals([second.Status, env.pushes.length], ["Pending", 1]);
  assertEquals((await outboxOrder(env, second.DomesticPaymentId))?.failures, 0); // it was not tried
  assertEquals(await later(env, 39_999), 0);
  assertEquals(await later(env, 1), 1);
  assertEquals(await statusOf(env, second.DomesticPaymentId), "AcceptedSettlementInProcess");
  assertEquals(await later(env, 10_000), 1); // up to a quarter later than the bank asked for
  assertEquals(await statusOf(env, first.DomesticPaymentId), "AcceptedSettlementInProcess");
});

Deno.test("A Retry-After for one TPP holds back no other TPP's orders and no other bank's [D4]", async () => {
  await using env = await openPushEnvironment(busy("40"), { paymentOrdersUri: { bankB: OTHER_URI } });
  await paid(env);
  env.answer = accepts;
  const otherTpp: PushEnvironment = Object.assign(Object.create(env), { tpp: env.otherTpp });
  assertEquals((await paid(otherTpp)).Status, "AcceptedSettlementInProcess");
  const atBankB = await authorised(env, { bank: env.bankB });
  assertEquals((await good(pay(env, atBankB), 201)).Data.Status, "AcceptedSettlementInProcess");
});

Deno.test("A Retry-After of a year holds orders back for 512 s, also if the clock is set back [D4]", async () => {
  await using env = await openPushEnvironment(busy("31536000"));
  await paid(env);
  env.answer = accepts;
  const { DomesticPaymentId: id } = await paid(env);
  env.clockStep = -60_000;
  assertEquals([await later(env, 511_999), await later(env, 1)], [0, 1]);
  env.clockStep = 0;
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

function busy(retryAfter: string): () => Response {
  return () => new Response(null, { status: 429, headers: { "retry-after": retryAfter } });
}
