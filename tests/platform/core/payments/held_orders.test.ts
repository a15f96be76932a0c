/** Orders that go back into the queue when their bank may have them again [OP6]. */
import { assertEquals } from "@std/assert";
import { openOrderOutboxStore } from "../../../../src/platform/core/payments/order_outbox_store.ts";
import { resumeHeldOrders } from "../../../../src/platform/core/payments/held_orders.ts";
import { openPaymentStore } from "../../../../src/platform/core/payments/payment_store.ts";
import { openLog } from "../../../../src/base/observability/log.ts";
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
