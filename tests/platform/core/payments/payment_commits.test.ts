/** Two changes of one payment that were decided on the same reading: one of them is committed [M2]. */
import { assertEquals } from "@std/assert";
import { present } from "testing/answers.ts";
import { asPaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { commitIfUnchanged, transact, type Transaction } from "../../../../src/base/store/transaction.ts";
import { openPaymentStore, stagePaymentGone } from "../../../../src/platform/core/payments/payment_store.ts";
import { openEnvironment } from "testing/environment.ts";
import { historyOf } from "testing/histories.ts";
import { paid } from "support/orders.ts";

Deno.test("a change of a payment is committed only if the payment is as it was read [M2]", async () => {
  await using env = await openEnvironment();
  const id = present(asPaymentId((await paid(env)).DomesticPaymentId));
  const payments = openPaymentStore(env.store, () => {}, () => {});
  const read = present(await payments.find(env.store, id));
  const deps = { store: env.store, clock: () => env.now };
  const note = { at: env.now, event: "payment_order.redriven", actor: "operator maria", reason: "a test" };
  let attempts = 0;
  await transact(deps, { what: "a note" }, async (tx) => {
    await payments.stageNote(tx, id, note);
    attempts += 1;
    if (attempts === 1) {
      await transact(deps, { what: "another" }, (other) => payments.stageNote(other, id, note));
    }
  });
  assertEquals(attempts, 2);
  const cause = { actor: "operator maria", reason: "a test" };
  const changes: readonly ((tx: Transaction) => void)[] = [
    (tx) => payments.stageChange(tx, read, { ...read.value, status: "Rejected" }, cause, env.now),
    (tx) =>
      payments.stageErased(
        tx,
        read,
        { ...read.value, personalData: { state: "erased", scope: "case", at: env.now } },
        cause,
      ),
    (tx) => stagePaymentGone(tx, read),
  ];
  for (const change of changes) assertEquals(await commitIfUnchanged(deps, change), false);
  const events = (await historyOf(env.store, id)).map(({ event }) => event);
  assertEquals(events.slice(1), ["payment_order.redriven", "payment_order.redriven"]);
});
