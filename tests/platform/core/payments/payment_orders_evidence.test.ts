/** What a payment's history keeps of pushes that did not decide it: the order as it was sent, and the bank's answer. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import type { PaymentOrder } from "testing/answers.ts";
import { bodyNamed, historyOf } from "testing/histories.ts";
import { evidencePlace } from "../../../../src/platform/evidence/evidence.ts";
import { bundleOf, faultsOf } from "../../../scripts/operators/case/bundles.ts";
import { grow } from "support/retention.ts";
import { good } from "testing/flows.ts";
import {
  type BankAnswer,
  later,
  openPushEnvironment,
  orderIdOf,
  outboxOrder,
  paid,
  type PushEnvironment,
} from "support/orders.ts";
import { readableBody } from "support/readable_body.ts";

type Entry = Awaited<ReturnType<typeof historyOf>>[number];

/** An entry as `event: reason`, with the bodies of its evidence: the order as the number of its push. */
async function shown(env: PushEnvironment, id: string): Promise<readonly string[]> {
  const [, ...entries] = await historyOf(env.store, id);
  return await Promise.all(entries.map(async (entry) => {
    const bodies = await Promise.all((entry.items ?? []).map(({ kind }) => bodyOf(env, id, entry, kind)));
    return [`${entry.event}: ${entry.reason}`, ...bodies].join(" | ");
  }));
}

async function bodyOf(env: PushEnvironment, id: string, entry: Entry, kind: string): Promise<string> {
  const body = readableBody(await bodyNamed(env.store, evidencePlace(id, entry.sequence ?? 0, kind)));
  const text = new TextDecoder().decode(body?.bytes);
  if (kind !== "order") return `${kind} ${text}`;
  assertEquals(decodeJwt<PaymentOrder>(text).Data.DomesticPaymentId, id);
  return `push ${env.pushes.findIndex((push) => push.body === text) + 1}`;
}

const ANSWERS: readonly BankAnswer[] = [
  () => new Response("taken"),
  () => {
    throw new TypeError("connection closed before message completed");
  },
  () => new Response("down", { status: 503 }),
  () => new Response("duplicate", { status: 422 }),
];

Deno.test("the history keeps the order and the answer of each push after which the bank may have the order [PO5, EN1, O3]", async (t) => {
  await using env = await openPushEnvironment((push) =>
    ANSWERS[env.pushes.length - 1]?.(push) ?? Response.error()
  );
  const { DomesticPaymentId: id } = await paid(env);
  for (let hour = 0; hour < 4; hour++) await later(env, 3_600_000);
  assertEquals(env.pushes.map(orderIdOf), [id, id, id, id]);
  await t.step("each with its own order, and the answer if one came", async () => {
    assertEquals(await shown(env, id), [
      'payment_order.outcome_unknown: no Status in the answer | push 1 | order_response {"body":"taken","status":200}',
      "payment_order.outcome_unknown: TypeError | push 2",
      'payment_order.outcome_unknown: status 503 | push 3 | order_response {"status":503}',
      "payment_order.dead: status 422; the bank may have the order | push 4 | " +
      'order_response {"body":"duplicate","status":422}',
    ]);
  });
  await t.step("the closing says that the bank may have the order", async () => {
    const Data = { Reason: "The payer wants it back.", StatusReason: "Not taken.", MayBeAtBank: true };
    const headers = { "content-type": "application/json" };
    const closing = { method: "POST", headers, body: JSON.stringify({ Data }) };
    await good(env.asOperator(`/operations/payment-orders/${id}/close`, closing), 200);
    assertEquals(
      (await shown(env, id)).at(-1),
      "payment.Rejected: The payer wants it back. (the bank may have the order)",
    );
  });
  await t.step("the bundle of the case verifies, and its timeline says it", async () => {
    await grow(env);
    const { text, printed } = await bundleOf(env.platform, id);
    assertEquals(await faultsOf(text), []);
    assertMatch(text, /payment_order\.outcome_unknown/);
    assertStringIncludes(printed.join("\n"), "the bank may have the order: a push had no clear answer");
  });
});

Deno.test("the history of an order that the bank rejects keeps the order and the answer, and no doubt [EN1, O3]", async () => {
  await using env = await openPushEnvironment(() => new Response("no such account", { status: 400 }));
  const { DomesticPaymentId: id } = await paid(env);
  assertEquals(await shown(env, id), [
    'payment_order.dead: status 400 | push 1 | order_response {"body":"no such account","status":400}',
  ]);
});

Deno.test("a push that fails after its lease is kept too, and changes nothing that another worker has done since [PO5, O3]", async () => {
  const lost = Promise.withResolvers<Response>();
  await using env = await openPushEnvironment(() => new Response("down", { status: 503 }));
  const { DomesticPaymentId: id } = await paid(env);
  env.answer = () => lost.promise;
  const slow = later(env, 1250);
  while (env.pushes.length < 2) await new Promise((done) => setTimeout(done, 1));
  env.answer = () => new Response(null, { status: 400 });
  assertEquals(await later(env, 15_000), 1);
  const dead = await outboxOrder(env, id);
  lost.reject(new TypeError("gone"));
  await slow;
  assertEquals((await shown(env, id)).map((line) => line.replace(/ \| order_response.*/, "")), [
    "payment_order.outcome_unknown: status 503 | push 1",
    "payment_order.dead: status 400; the bank may have the order | push 3",
    "payment_order.outcome_unknown: TypeError | push 2",
  ]);
  assertEquals([dead?.state, await outboxOrder(env, id)], ["dead", dead]);
});
