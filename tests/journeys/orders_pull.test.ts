/** Banks that pull their orders, and books that survive their bank: an order is executed once however it came. */
import { assertEquals } from "@std/assert";
import { agreed, bookOf, openBanksEnvironment, over, paidAt } from "support/banks_environment.ts";
import { DEBTOR_ACCOUNT, good, pay } from "testing/flows.ts";
import { history, later, outboxKeys, payment, statusOf } from "support/orders.ts";
import { ACCEPTED, pull, PULLING } from "./pulling.ts";

/** Alice's savings: 5.00 EUR. */
const SAVINGS = { DebtorAccount: { ...DEBTOR_ACCOUNT, Identification: "GB11BUKB20201555555563" } };

Deno.test("a bank without payment_orders_uri executes each order once, by pulling alone [D2]", async () => {
  await using env = await openBanksEnvironment({ ...PULLING, push: false });
  const made = await paidAt(env, { body: over("100.00") });
  assertEquals([made.Status, (await bookOf(env)).orders], [ACCEPTED, []]);
  for (let round = 0; round < 3; round++) await pull(env);
  const { orders, balances } = await bookOf(env);
  assertEquals(orders.map((order) => [order.DomesticPaymentId, order.ConsentId, order.Status]), [
    [made.DomesticPaymentId, made.ConsentId, ACCEPTED],
  ]);
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "99900.00");
});

Deno.test("a pulled order that cannot be paid is reported as Rejected [D2, PT4]", async () => {
  for (const push of [true, false]) {
    await using env = await openBanksEnvironment({ ...PULLING, push });
    env.pushesArrive = false;
    // Either can be paid when the customer agrees, but not both.
    const flows = [
      await agreed(env, { body: over("3.00", SAVINGS) }),
      await agreed(env, { body: over("3.00", SAVINGS) }),
    ];
    const ids: string[] = [];
    for (const flow of flows) ids.push((await good(pay(env, flow), 201)).Data.DomesticPaymentId);
    await pull(env);
    const seen = await Promise.all(ids.map((id) => payment(env, id)));
    assertEquals(seen.map(({ Status, StatusReasonCode }) => [Status, StatusReasonCode]).toSorted(), [
      [ACCEPTED, undefined],
      ["Rejected", "AM04"],
    ]);
    assertEquals(await outboxKeys(env), []);
  }
});

Deno.test("an order that cannot be pushed is pulled, reported and not pushed any more [D2, D4]", async () => {
  await using env = await openBanksEnvironment(PULLING);
  env.pushesArrive = false;
  const made = await paidAt(env);
  assertEquals(made.Status, "Pending");
  await pull(env);
  assertEquals(await statusOf(env, made.DomesticPaymentId), ACCEPTED);
  assertEquals(await outboxKeys(env), []);
  env.pushesArrive = true;
  assertEquals(await later(env, 600_000), 0);
  assertEquals((await bookOf(env)).orders.length, 1);
  assertEquals((await history(env, made.DomesticPaymentId)).slice(1), [
    "payment_order.outcome_unknown by platform",
    `payment.${ACCEPTED} by ${env.bankA.clientId}`,
  ]);
});

Deno.test("pushes and pulls of one order at the same time debit once [D1]", async () => {
  await using env = await openBanksEnvironment(PULLING);
  env.pushesArrive = false;
  const ids: string[] = [];
  for (let made = 0; made < 5; made++) {
    ids.push((await paidAt(env, { body: over("10.00") })).DomesticPaymentId);
  }
  env.pushesArrive = true;
  env.now += 31_000;
  await Promise.all([env.platform.deliverDueOrders(), pull(env), env.platform.deliverDueOrders()]);
  for (let second = 0; second < 40; second++) await later(env, 1000);
  const { orders, balances } = await bookOf(env);
  assertEquals(orders.map((order) => order.DomesticPaymentId).toSorted(), ids.toSorted());
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "99950.00");
  for (const id of ids) assertEquals(await statusOf(env, id), ACCEPTED);
});
