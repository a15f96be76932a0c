/** Orders that go back into the queue when their bank may have them again [OP6]. */
import { assertEquals } from "@std/assert";
import { remove, type Transaction } from "../../../../src/base/store/transaction.ts";
import { openOrderOutboxStore } from "../../../../src/platform/core/payments/order_outbox_store.ts";
import {
  type HeldOrderDeps,
  holdBack,
  resumeHeldOrders,
} from "../../../../src/platform/core/payments/held_orders.ts";
import { openOrder } from "../../../../src/platform/core/payments/payment_order.ts";
import { openPaymentStore } from "../../../../src/platform/core/payments/payment_store.ts";
import { asBankCode, asPaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { openLog } from "../../../../src/base/observability/log.ts";
import { present } from "testing/answers.ts";
import { accepts, later, openPushEnvironment, outboxOrder, paid } from "support/orders.ts";

Deno.test("a pass looks at the held orders of each bank that may have them, puts them back, and counts them [OP6]", async () => {
  await using env = await openPushEnvironment(accepts);
  const clock = (): number => env.now;
  let why: string | undefined = "a test holds them";
  const resume = (): Promise<number> =>
    resumeHeldOrders({
      store: env.store,
      clock,
      figures: { order: () => {} },
      log: openLog({ clock, sink: () => {}, level: "error" }),
      outbox: openOrderOutboxStore(env.store),
      payments: openPaymentStore(env.store, () => {}, () => {}),
      whyHeld: () => Promise.resolve(why),
      random: () => 0,
    });
  assertEquals(await resume(), 0);
  const request = { method: "POST", headers: { "content-type": "application/json" } };
  const body = JSON.stringify({ Data: { Reason: "The bank asked us to wait." } });
  assertEquals((await env.asOperator("/operations/banks/BANKA/hold", { ...request, body })).status, 200);
  const { DomesticPaymentId: id } = await paid(env);
  await later(env, 60_000);
  assertEquals((await outboxOrder(env, id))?.state, "held");
  assertEquals(await resume(), 0);
  why = undefined;
  assertEquals(await resume(), 1);
  assertEquals((await outboxOrder(env, id))?.state, "waiting");
  assertEquals(await resume(), 0);
});

Deno.test("an order that another process has changed is not held, which is no fault [D1]", async () => {
  const id = present(asPaymentId(crypto.randomUUID()));
  const told: unknown[] = [];
  const deps: unknown = {
    store: { commit: () => Promise.resolve(false), getMany: () => Promise.resolve([]) },
    clock: () => 7,
    log: { warn: (...line: unknown[]) => told.push(line) },
    outbox: { stageChange: (tx: Transaction) => remove(tx, ["outbox", id]) },
    payments: { stageNote: () => Promise.resolve(7) },
  };
  const entry = { key: ["outbox", id], version: "1", value: openOrder(id, present(asBankCode("BANKA")), 7) };
  await holdBack(deps as HeldOrderDeps, entry, "a test holds it");
  assertEquals(told, []);
});
