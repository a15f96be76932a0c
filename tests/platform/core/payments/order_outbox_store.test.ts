import { assertEquals } from "@std/assert";
import { asBankCode, asPaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import { latestDueAt } from "../../../../src/platform/events/delivery/retry_delays.ts";
import { openOrder, putOff } from "../../../../src/platform/core/payments/payment_order.ts";
import { openOrderOutboxStore } from "../../../../src/platform/core/payments/order_outbox_store.ts";

const NOW = Date.UTC(2040, 0, 15);

Deno.test("due lists a bank's orders that are due, and those of a time too far ahead, and no order that waits [D4]", async () => {
  const bank = asBankCode("BANKA");
  if (bank === undefined) throw new Error("the bank's code is malformed");
  const deps = { store: await openDenoKv(":memory:"), clock: () => NOW };
  const outbox = openOrderOutboxStore(deps.store);
  const ids = new Map<string, number>();
  const add = async (dueAt: number): Promise<void> => {
    const paymentId = asPaymentId(crypto.randomUUID());
    if (paymentId === undefined) throw new Error("the payment's id is malformed");
    ids.set(paymentId, dueAt);
    await commitIfUnchanged(
      deps,
      (tx) => outbox.stageOpening(tx, { ...openOrder(paymentId, bank, NOW), dueAt }),
    );
  };
  const due = async (): Promise<readonly (number | undefined)[]> =>
    (await outbox.due(bank, NOW, 10)).map(({ paymentId }) => ids.get(paymentId));
  await add(NOW + 1);
  assertEquals(await due(), []);
  await add(NOW);
  assertEquals(await due(), [NOW]);
  await add(latestDueAt(NOW));
  await add(latestDueAt(NOW) + 1);
  assertEquals(await due(), [NOW, latestDueAt(NOW) + 1]);
  deps.store.close();
});

Deno.test("of two changes of an order one commits, and an order is opened once [D1]", async () => {
  const [bank, paymentId] = [asBankCode("BANKA"), asPaymentId(crypto.randomUUID())];
  if (bank === undefined || paymentId === undefined) throw new Error("an id is malformed");
  const deps = { store: await openDenoKv(":memory:"), clock: () => NOW };
  const outbox = openOrderOutboxStore(deps.store);
  const order = openOrder(paymentId, bank, NOW);
  const open = () => commitIfUnchanged(deps, (tx) => outbox.stageOpening(tx, order));
  assertEquals([await open(), await open()], [true, false]);
  const first = await outbox.find(deps.store, paymentId);
  if (first === null) throw new Error("no order");
  const change = () => commitIfUnchanged(deps, (tx) => outbox.stageChange(tx, first, putOff(order, NOW)));
  assertEquals([await change(), await change()], [true, false]);
  assertEquals(await commitIfUnchanged(deps, (tx) => outbox.stageDelivery(tx, first)), false);
  const last = await outbox.find(deps.store, paymentId);
  if (last === null) throw new Error("no order");
  assertEquals(await commitIfUnchanged(deps, (tx) => outbox.stageDelivery(tx, last)), true);
  assertEquals(await deps.store.list({ prefix: ["outbox_queue"], limit: 10 }), []);
  deps.store.close();
});
