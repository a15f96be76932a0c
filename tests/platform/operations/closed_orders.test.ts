/** Orders that an operator closes, and what the bank says of them later. */
import { assertEquals } from "@std/assert";
import { bodyOf, rejectionOf } from "testing/answers.ts";
import type { StoppedOrders } from "testing/operation_answers.ts";
import type { Environment } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushEnvironment,
  outboxKeys,
  paid,
  payment,
  type PushEnvironment,
  report,
} from "support/orders.ts";

const CLOSE = {
  Reason: "The bank's desk says that it never arrived.",
  StatusReason: "The bank did not take it.",
};

function close(env: Environment, id: string, data: object = CLOSE): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ Data: data });
  return env.asOperator(`/operations/payment-orders/${id}/close`, { method: "POST", headers, body });
}

/** A payment whose order the bank has rejected with a 4xx, or never answered. */
async function dead(answer: () => Response): Promise<PushEnvironment & { id: string }> {
  const env = await openPushEnvironment(answer);
  const { DomesticPaymentId: id } = await paid(env);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  return Object.assign(env, { id });
}

const refuses = (): Response => new Response(null, { status: 400 });

Deno.test("an operator closes an order that the bank does not take, and the TPP reads why [OP9, O3, G6]", async () => {
  await using env = await dead(refuses);
  const closed = await good(close(env, env.id), 200);
  assertEquals(closed, { Data: { DomesticPaymentId: env.id, State: "closed", Status: "Rejected" } });
  const { Status, StatusReason } = await payment(env, env.id);
  assertEquals([Status, StatusReason], ["Rejected", "The bank did not take it."]);
  assertEquals(await outboxKeys(env), []);
  assertEquals((await history(env, env.id)).at(-1), "payment.Rejected by operator maria");
  env.answer = accepts;
  assertEquals(await later(env, 86_400_000), 0, "never pushed again");
  assertEquals((await close(env, env.id)).status, 404);
});

Deno.test("an order that the bank may have taken is closed only if the operator says so [OP9]", async () => {
  await using env = await dead(down);
  const before = await env.snapshot();
  for (const data of [CLOSE, { ...CLOSE, MayBeAtBank: false }]) {
    const answer = await close(env, env.id, data);
    assertEquals([answer.status, (await rejectionOf(answer)).error], [409, "may_be_at_bank"]);
  }
  assertEquals(await env.snapshot(), before);
  const [listed] = (await bodyOf<StoppedOrders>(env.asOperator("/operations/payment-orders?state=dead"))).Data
    .PaymentOrder;
  assertEquals(listed?.MayBeAtBank, true);
  await good(close(env, env.id, { ...CLOSE, MayBeAtBank: true }), 200);
  assertEquals((await payment(env, env.id)).Status, "Rejected");
});

Deno.test("an order that was redriven after the bank's 4xx may be at the bank [OP9]", async () => {
  await using env = await dead(refuses);
  env.answer = down;
  await good(env.asOperator(`/operations/payment-orders/${env.id}/redrive`, { method: "POST" }), 202);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  assertEquals((await close(env, env.id)).status, 409);
});

Deno.test("an order that is still tried is not closed, and of ten closings one succeeds [OP9]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  assertEquals((await close(env, id)).status, 409);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  const data = { ...CLOSE, MayBeAtBank: true };
  const all = await Promise.all(Array.from({ length: 10 }, () => close(env, id, data)));
  assertEquals(all.map(({ status }) => status).toSorted(), [200, ...Array(9).fill(404)]);
  await Promise.all(all.map((answer) => answer.body?.cancel()));
  assertEquals((await history(env, id)).filter((line) => line.includes("Rejected")).length, 1);
});

Deno.test("what the bank reports of a closed order counts, and from then on the usual rules hold [OP10, PT10]", async () => {
  await using env = await dead(refuses);
  await good(close(env, env.id), 200);
  assertEquals((await report(env, env.id, "AcceptedSettlementInProcess")).status, 200);
  const reported = await payment(env, env.id);
  assertEquals([reported.Status, reported.StatusReason], ["AcceptedSettlementInProcess", undefined]);
  assertEquals((await history(env, env.id)).slice(-2), [
    "payment.Rejected by operator maria",
    `payment.AcceptedSettlementInProcess by ${env.bankA.clientId}`,
  ]);
  assertEquals((await report(env, env.id, "AcceptedSettlementInProcess")).status, 200, "a repeated report");
  assertEquals((await report(env, env.id, "Rejected")).status, 200);
  assertEquals(
    (await report(env, env.id, "AcceptedSettlementInProcess")).status,
    400,
    "the bank has rejected it",
  );
});

Deno.test("a rejection that the bank reports of a closed order is the bank's own from then on [OP10]", async () => {
  await using env = await dead(refuses);
  await good(close(env, env.id), 200);
  assertEquals((await report(env, env.id, "Rejected")).status, 200);
  assertEquals((await report(env, env.id, "AcceptedSettlementInProcess")).status, 400);
});
