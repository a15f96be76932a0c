/** The bank's own reports and its answers to pushes, in any order [D2, D3, D4]. */
import { assertEquals } from "@std/assert";
import { call, clientToken, good, type Json } from "../../../scripts/testing/flows.ts";
import {
  accepts,
  answers,
  down,
  history,
  later,
  openPushWorld,
  orderIdOf,
  outboxKeys,
  paid,
  type PushWorld,
  report,
  statusOf,
} from "../../support/orders.ts";

const ACCEPTED = "AcceptedSettlementInProcess";

Deno.test("A report that comes before the push is answered counts, and the answer changes nothing more [D3]", async () => {
  await using world = await openPushWorld();
  world.answer = async (push) => {
    assertEquals((await report(world, orderIdOf(push), ACCEPTED)).status, 200);
    assertEquals((await report(world, orderIdOf(push), "AcceptedSettlementCompleted")).status, 200);
    return Response.json({ Status: ACCEPTED });
  };
  const made = await paid(world);
  assertEquals(made.Status, "AcceptedSettlementCompleted");
  assertEquals(await outboxKeys(world), []);
  assertEquals((await history(world, made.DomesticPaymentId)).slice(1), [
    `payment.${ACCEPTED} by ${world.bankA.clientId}`,
    `payment.AcceptedSettlementCompleted by ${world.bankA.clientId}`,
  ]);
});

Deno.test("A report of the bank's answers the order: it is not pushed again [D3]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  await good(report(world, id, ACCEPTED), 200);
  assertEquals(await outboxKeys(world), []);
  assertEquals(await later(world, 600_000), 0);
  assertEquals([world.pushes.length, await statusOf(world, id)], [1, ACCEPTED]);
});

Deno.test("A report of Rejected ends an order that could not be pushed [D3, P4]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  await good(report(world, id, "Rejected"), 200);
  assertEquals([await outboxKeys(world), await statusOf(world, id)], [[], "Rejected"]);
});

Deno.test("A report takes an order out of the dead letters [D3]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  for (let hour = 0; hour < 12; hour++) await later(world, 3_600_000);
  assertEquals(await outboxKeys(world), [`outbox ${id}`, `outbox_dead ${id}`]);
  await good(report(world, id, ACCEPTED), 200);
  assertEquals([await outboxKeys(world), await statusOf(world, id)], [[], ACCEPTED]);
});

Deno.test("A report of Pending changes nothing: the order is still to be pushed [P9]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  await good(report(world, id, "Pending"), 200);
  world.answer = accepts;
  assertEquals([await later(world, 1250), await statusOf(world, id)], [1, ACCEPTED]);
});

Deno.test("A report that skips the acceptance is refused and leaves the order to be pushed [D3]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  const before = await world.snapshot();
  const answer = await report(world, id, "AcceptedSettlementCompleted");
  assertEquals([answer.status, (await answer.json()).Errors[0].Path], [400, "Data.Status"]);
  const tokens = (entries: Awaited<typeof before>) => entries.filter(({ key }) => key[0] !== "access_token");
  assertEquals(tokens(await world.snapshot()), tokens(before));
});

Deno.test("A bank that answers Rejected after it reported the acceptance has rejected [P4]", async () => {
  await using world = await openPushWorld();
  world.answer = async (push) => {
    await good(report(world, orderIdOf(push), ACCEPTED), 200);
    return Response.json({ Status: "Rejected" });
  };
  assertEquals((await paid(world)).Status, "Rejected");
});

Deno.test("A bank that accepts what it has reported as Rejected has rejected it: that is final [P10]", async () => {
  await using world = await openPushWorld();
  world.answer = async (push) => {
    await good(report(world, orderIdOf(push), "Rejected"), 200);
    return Response.json({ Status: ACCEPTED });
  };
  const made = await paid(world);
  assertEquals(made.Status, "Rejected");
  assertEquals(await outboxKeys(world), []);
});

Deno.test("20 parallel reports and a push record each step once [D3]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id } = await paid(world);
  world.answer = answers(ACCEPTED);
  world.now += 1250;
  const reports = Array.from({ length: 20 }, () => report(world, id, ACCEPTED));
  const [, ...statuses] = await Promise.all([
    world.platform.deliverDueOrders(),
    ...reports.map(async (answer) => (await answer).status),
  ]);
  assertEquals(new Set(statuses), new Set([200]));
  const accepted = (await history(world, id)).filter((line) => line.startsWith(`payment.${ACCEPTED} `));
  assertEquals([accepted.length, await statusOf(world, id), await outboxKeys(world)], [1, ACCEPTED, []]);
});

Deno.test("GET back-channel-payments lists the Pending order with all that a bank needs to execute it [D2]", async () => {
  await using world = await openPushWorld(down);
  const { DomesticPaymentId: id, ConsentId } = await paid(world);
  const { PaymentOrder } = await pulled(world, "?status=Pending");
  assertEquals(PaymentOrder.map((order: Json) => [order.DomesticPaymentId, order.ConsentId, order.Status]), [
    [id, ConsentId, "Pending"],
  ]);
  assertEquals(PaymentOrder[0].DebtorAccount.Identification, "GB33BUKB20201555555555");
  assertEquals(PaymentOrder[0].Initiation.InstructedAmount, { Amount: "165.88", Currency: "EUR" });
  await good(report(world, id, ACCEPTED), 200);
  assertEquals((await pulled(world, "?status=Pending")).PaymentOrder, []);
  assertEquals((await pulled(world, "")).PaymentOrder.length, 1);
});

async function pulled(world: PushWorld, query: string): Promise<Json> {
  const bound = await clientToken(world, world.bankA, "BANKA");
  const path = `/BANKA/back-channel-payments/v1${query}`;
  return (await good(call(world, world.bankA, bound, path), 200)).Data;
}
