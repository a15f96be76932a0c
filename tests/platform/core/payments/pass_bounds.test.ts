/** How much one pass over due or held orders reads, and in which commits. The queue is scripted: full ones are large. */
import { assertEquals } from "@std/assert";
import { asBankCode, type BankCode, type PaymentId } from "../../../../src/base/kernel/identifiers.ts";
import type { DeliverOrderDeps } from "../../../../src/platform/core/payments/deliver_order.ts";
import { deliverDueOrders } from "../../../../src/platform/core/payments/deliver_due_orders.ts";
import { type HeldOrderDeps, resumeHeldOrders } from "../../../../src/platform/core/payments/held_orders.ts";
import type { OrderOutboxStore } from "../../../../src/platform/core/payments/order_outbox_store.ts";
import { openTestStore } from "testing/test_store.ts";

function bankNamed(name: string | number): BankCode {
  const code = asBankCode(`B${name}`);
  if (code === undefined) throw new Error(`B${name} is no code`);
  return code;
}

/** How many orders were looked up in a row: those of one commit. */
function lookUps(): { readonly sizes: number[]; readonly find: OrderOutboxStore["find"] } {
  const sizes: number[] = [];
  let before: object | undefined;
  return {
    sizes,
    find: (from) => {
      if (from !== before) sizes.push(0);
      before = from;
      sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + 1;
      return Promise.resolve(null);
    },
  };
}

function repeated<T>(count: number, ...items: readonly T[]): readonly T[] {
  return Array.from({ length: count }, () => items).flat();
}

Deno.test("a walk takes a bank's due orders in 50 pages of 200, oldest first, twenty in a commit [D4]", async () => {
  await using store = await openTestStore();
  for (const [length, pages] of [[10_400, 50], [400, 3], [399, 2]] as const) {
    const { sizes, find } = lookUps();
    const asked: unknown[] = [];
    const slots: unknown[] = [];
    const all = Array.from({ length }, (_, index) => ({ paymentId: String(index) }));
    const deps: unknown = {
      store,
      clock: () => 7,
      steady: () => 7,
      random: () => 0,
      walking: new Set(),
      dueBanks: { find: () => Promise.resolve([bankNamed(1)]) },
      slots: {
        take: () => Promise.resolve(() => slots.push("free")),
        takeFree: () => () => slots.push("free"),
      },
      outbox: {
        find,
        due(bank: BankCode, now: number, limit: number, after?: { readonly paymentId: string }) {
          asked.push([bank, now, after?.paymentId]);
          const from = after === undefined ? 0 : Number(after.paymentId) + 1;
          return Promise.resolve(all.slice(from, from + limit));
        },
      },
    };
    assertEquals(await deliverDueOrders(deps as DeliverOrderDeps), 0);
    const expected = Array.from({ length: pages }, (_, page) => ["B1", 7, all[200 * page - 1]?.paymentId]);
    assertEquals(asked, expected);
    const looked = Math.min(length, 10_000);
    assertEquals(
      sizes.toSorted(),
      [...repeated(Math.floor(looked / 20), 20), ...length === 399 ? [19] : []].toSorted(),
    );
    assertEquals(slots.length, looked, "each slot is free again");
  }
});

Deno.test("a pass puts back 100 held orders of a bank, twenty in a commit, of 10,000 banks at most [OP6]", async () => {
  await using store = await openTestStore();
  const { sizes, find } = lookUps();
  const limits = new Set<number>();
  let asked = 0;
  const deps: unknown = {
    store,
    clock: () => 7,
    random: () => 0,
    whyHeld: (bank: BankCode) => Promise.resolve(bank === bankNamed(3) ? "a restore" : undefined),
    outbox: {
      find,
      nextHeldBank: () => Promise.resolve(bankNamed(++asked)),
      heldOf(bank: BankCode, limit: number) {
        limits.add(limit);
        const length = Number(bank.slice(1)) > 3 ? 0 : limit;
        return Promise.resolve(Array.from({ length }, (_, index) => String(index) as PaymentId));
      },
    },
  };
  assertEquals(await resumeHeldOrders(deps as HeldOrderDeps), 200);
  assertEquals([asked, [...limits], sizes], [10_001, [100], repeated(10, 20)]);
});
