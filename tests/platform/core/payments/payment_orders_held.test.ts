/** Orders to a bank that is not active are held: not sent, not failed, visible to the operator, sent when it is active again. */
import { assertEquals } from "@std/assert";
import { FAILURES, setOrganisation, setSoftware } from "support/directory_network.ts";
import { bodyOf, present } from "testing/answers.ts";
import type { HeldOrders } from "testing/operation_answers.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushEnvironment,
  ORDERS_URI,
  outboxKeys,
  outboxOrder,
  paid,
  type PushEnvironment,
  statusOf,
  UNKNOWN,
} from "support/orders.ts";
import { renewedStatement } from "testing/registration.ts";
import { BOUND_MS } from "support/standing.ts";

const SUSPENDED = "The bank is not active: the directory has suspended it.";

/** A payment whose bank is down, and how many pushes it has had. */
async function undelivered(): Promise<PushEnvironment & { id: string }> {
  const env = await openPushEnvironment(down);
  const { DomesticPaymentId: id, Status } = await paid(env);
  assertEquals([Status, env.pushes.length], ["Pending", 1]);
  return Object.assign(env, { id });
}

async function listed(env: PushEnvironment, query = "state=held"): Promise<HeldOrders> {
  const answer = await env.asOperator(`/operations/payment-orders?${query}`);
  assertEquals(answer.status, 200);
  return (await bodyOf<{ Data: HeldOrders }>(answer)).Data;
}

async function reactivate(env: PushEnvironment): Promise<void> {
  await setOrganisation(env, env.bankA, "Active");
  await setSoftware(env, env.bankA, "Active");
}

Deno.test("an order to a suspended bank is held within 15 s, and pushed when the bank is active again [G5]", async (t) => {
  await using env = await undelivered();
  const { id } = env;
  env.answer = accepts;
  await setOrganisation(env, env.bankA, "Suspended");
  await t.step("it is not posted and counts no failure", async () => {
    await later(env, BOUND_MS);
    for (let hour = 0; hour < 3; hour++) await later(env, 3_600_000);
    assertEquals(env.pushes.length, 1);
    assertEquals((await outboxOrder(env, id))?.failures, 1);
  });
  await t.step("the operator sees it and why", async () => {
    const { PaymentOrder: [order, ...more] } = await listed(env);
    assertEquals(more, []);
    const { DomesticPaymentId, BankId, State, HeldBecause, PushFailures, LastFailure } = present(order);
    assertEquals([DomesticPaymentId, BankId, State, HeldBecause, PushFailures, LastFailure], [
      id,
      "BANKA",
      "held",
      SUSPENDED,
      1,
      "status 503",
    ]);
    assertEquals(order?.HeldSinceDateTime, "2040-01-15T12:00:15+00:00");
    assertEquals((await listed(env, "state=dead")).PaymentOrder, []);
  });
  await t.step("it goes out as soon as the bank is active again", async () => {
    await reactivate(env);
    assertEquals(await later(env, BOUND_MS), 1);
    assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
    assertEquals((await listed(env)).PaymentOrder, []);
    assertEquals(await outboxKeys(env), []);
    assertEquals((await history(env, id)).slice(1), [
      UNKNOWN,
      "payment_order.held by platform",
      "payment_order.resumed by platform",
      "payment.AcceptedSettlementInProcess by bank BANKA",
    ]);
  });
});

Deno.test("an order to a withdrawn bank is never posted to it [G5]", async () => {
  await using env = await undelivered();
  env.answer = accepts;
  await setOrganisation(env, env.bankA, "Withdrawn");
  for (const wait of [BOUND_MS, 600_000, 86_400_000]) await later(env, wait);
  assertEquals(env.pushes.length, 1);
  const [order] = (await listed(env)).PaymentOrder;
  assertEquals(order?.HeldBecause, "The bank is not active: the directory has withdrawn it.");
});

Deno.test("no order is posted while it is unknown whether its bank is active [G5] [A9]", async () => {
  await using env = await undelivered();
  const { id, network } = env;
  env.answer = accepts;
  const fail = FAILURES["status 500"]?.() ?? network;
  env.network = (request) =>
    new URL(request.url).host === "directory.example" ? fail(request) : network(request);
  await later(env, 900_001);
  assertEquals(env.pushes.length, 1);
  const [order] = (await listed(env)).PaymentOrder;
  assertEquals(order?.HeldBecause, "The directory cannot be asked whether the bank is active.");
  env.network = network;
  assertEquals(await later(env, 10_000), 1);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
});

Deno.test("held orders are listed page by page and resumed bank by bank [G5]", async () => {
  await using env = await undelivered();
  await setOrganisation(env, env.bankA, "Suspended");
  await later(env, BOUND_MS);
  const [order, payment] = await env.store.getMany<object>([["outbox", env.id], ["payment", env.id]]);
  for (let copy = 0; copy < 120; copy++) {
    const id = crypto.randomUUID();
    const value = { ...order?.value, paymentId: id };
    await env.store.commit({
      checks: [],
      writes: [
        { kind: "set", key: ["outbox", id], value },
        { kind: "set", key: ["outbox_held", "BANKA", id], value: id },
        { kind: "set", key: ["payment", id], value: { ...payment?.value, id } },
      ],
    });
  }
  const first = await listed(env);
  const second = await listed(env, `state=held&after=${first.After}`);
  assertEquals([first.PaymentOrder.length, second.PaymentOrder.length, second.After], [100, 21, undefined]);
  env.answer = accepts;
  await reactivate(env);
  let pushed = 0;
  for (let pass = 0; pass < 3; pass++) pushed += await later(env, BOUND_MS);
  assertEquals([pushed, await outboxKeys(env)], [121, []]);
});

Deno.test("orders go to the address of the bank's newest statement within 15 s, without a registration [G5] [D4]", async () => {
  await using env = await undelivered();
  env.answer = accepts;
  env.now += 1000; // a statement of another second
  const moved = "https://orders.bank-a.example/v2";
  await renewedStatement(env, env.bankA, { payment_orders_uri: moved });
  await later(env, BOUND_MS);
  assertEquals(env.pushes.map(({ url }) => url), [ORDERS_URI, moved]);
  assertEquals(await statusOf(env, env.id), "AcceptedSettlementInProcess");
});
