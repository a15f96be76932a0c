/** Orders to a bank that is not active are held: not sent, not failed, visible to the operator, sent when it is active again. */
import { assertEquals } from "@std/assert";
import { FAILURES, setOrganisation, setSoftware } from "../../support/directory_network.ts";
import type { Json } from "../../../scripts/testing/flows.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushWorld,
  ORDERS_URI,
  outboxKeys,
  outboxOrder,
  paid,
  type PushWorld,
  statusOf,
} from "../../support/orders.ts";
import { renewedStatement } from "../../../scripts/testing/registration.ts";
import { BOUND_MS } from "../../support/standing.ts";
import { BASE_URL } from "../../../scripts/testing/environment.ts";

const TOKEN = "an-operators-token-0123456789-abcdefghij";
const SUSPENDED = "The bank is not active: the directory has suspended it.";

/** A payment whose bank is down, and how many pushes it has had. */
async function undelivered(): Promise<PushWorld & { id: string }> {
  const world = await openPushWorld(down, { environment: { OPERATOR_TOKEN: TOKEN } });
  const { DomesticPaymentId: id, Status } = await paid(world);
  assertEquals([Status, world.pushes.length], ["Pending", 1]);
  return Object.assign(world, { id });
}

async function listed(world: PushWorld, query = "state=held"): Promise<Json> {
  const request = new Request(`${BASE_URL}/operations/payment-orders?${query}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const answer = await world.api(request);
  assertEquals(answer.status, 200);
  return (await answer.json()).Data;
}

async function reactivate(world: PushWorld): Promise<void> {
  await setOrganisation(world, world.bankA, "Active");
  await setSoftware(world, world.bankA, "Active");
}

Deno.test("an order to a suspended bank is held within 15 s, and pushed when the bank is active again [G5]", async (t) => {
  await using world = await undelivered();
  const { id } = world;
  world.answer = accepts;
  await setOrganisation(world, world.bankA, "Suspended");
  await t.step("it is not posted and counts no failure", async () => {
    await later(world, BOUND_MS);
    for (let hour = 0; hour < 3; hour++) await later(world, 3_600_000);
    assertEquals(world.pushes.length, 1);
    assertEquals((await outboxOrder(world, id))?.failures, 1);
  });
  await t.step("the operator sees it and why", async () => {
    const { PaymentOrder: [order, ...more] } = await listed(world);
    assertEquals(more, []);
    const { DomesticPaymentId, BankId, State, HeldBecause, PushFailures, LastFailure } = order;
    assertEquals([DomesticPaymentId, BankId, State, HeldBecause, PushFailures, LastFailure], [
      id,
      "BANKA",
      "held",
      SUSPENDED,
      1,
      "status 503",
    ]);
    assertEquals(order.HeldSinceDateTime, "2040-01-15T12:00:15+00:00");
    assertEquals((await listed(world, "state=dead")).PaymentOrder, []);
  });
  await t.step("it goes out as soon as the bank is active again", async () => {
    await reactivate(world);
    assertEquals(await later(world, BOUND_MS), 1);
    assertEquals(await statusOf(world, id), "AcceptedSettlementInProcess");
    assertEquals((await listed(world)).PaymentOrder, []);
    assertEquals(await outboxKeys(world), []);
    assertEquals((await history(world, id)).slice(1), [
      "payment_order.held by platform",
      "payment_order.resumed by platform",
      "payment.AcceptedSettlementInProcess by bank BANKA",
    ]);
  });
});

Deno.test("an order to a withdrawn bank is never posted to it [G5]", async () => {
  await using world = await undelivered();
  world.answer = accepts;
  await setOrganisation(world, world.bankA, "Withdrawn");
  for (const wait of [BOUND_MS, 600_000, 86_400_000]) await later(world, wait);
  assertEquals(world.pushes.length, 1);
  const [order] = (await listed(world)).PaymentOrder;
  assertEquals(order.HeldBecause, "The bank is not active: the directory has withdrawn it.");
});

Deno.test("no order is posted while nobody can say whether its bank is active [G5] [A9]", async () => {
  await using world = await undelivered();
  const { id, network } = world;
  world.answer = accepts;
  const fail = FAILURES["status 500"]?.() ?? network;
  world.network = (request) =>
    new URL(request.url).host === "directory.example" ? fail(request) : network(request);
  await later(world, 900_001);
  assertEquals(world.pushes.length, 1);
  const [order] = (await listed(world)).PaymentOrder;
  assertEquals(order.HeldBecause, "The directory cannot be asked whether the bank is active.");
  world.network = network;
  assertEquals(await later(world, 10_000), 1);
  assertEquals(await statusOf(world, id), "AcceptedSettlementInProcess");
});

Deno.test("held orders are listed page by page and resumed bank by bank [G5]", async () => {
  await using world = await undelivered();
  await setOrganisation(world, world.bankA, "Suspended");
  await later(world, BOUND_MS);
  const [order, payment] = await world.store.getMany<Json>([["outbox", world.id], ["payment", world.id]]);
  for (let copy = 0; copy < 120; copy++) {
    const id = crypto.randomUUID();
    const value = { ...order?.value, paymentId: id };
    await world.store.commit({
      checks: [],
      writes: [
        { kind: "set", key: ["outbox", id], value },
        { kind: "set", key: ["outbox_held", "BANKA", id], value: id },
        { kind: "set", key: ["payment", id], value: { ...payment?.value, id } },
      ],
    });
  }
  const first = await listed(world);
  const second = await listed(world, `state=held&after=${first.After}`);
  assertEquals([first.PaymentOrder.length, second.PaymentOrder.length, second.After], [100, 21, undefined]);
  world.answer = accepts;
  await reactivate(world);
  let pushed = 0;
  for (let pass = 0; pass < 3; pass++) pushed += await later(world, BOUND_MS);
  assertEquals([pushed, await outboxKeys(world)], [121, []]);
});

Deno.test("orders go to the address of the bank's newest statement within 15 s, without a registration [G5] [D4]", async () => {
  await using world = await undelivered();
  world.answer = accepts;
  world.now += 1000; // a statement of another second
  const moved = "https://orders.bank-a.example/v2";
  await renewedStatement(world, world.bankA, { payment_orders_uri: moved });
  await later(world, BOUND_MS);
  assertEquals(world.pushes.map(({ url }) => url), [ORDERS_URI, moved]);
  assertEquals(await statusOf(world, world.id), "AcceptedSettlementInProcess");
});
