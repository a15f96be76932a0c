/** The lists of orders by bank and time: their pages, their borders, and who is told of an order [D1, D4]. */
import { assertEquals } from "@std/assert";
import {
  asBankCode,
  asPaymentId,
  type BankCode,
  type PaymentId,
} from "../../../../src/base/kernel/identifiers.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import {
  openOrderOutboxStore,
  type OrderOutboxStore,
  outboxAhead,
} from "../../../../src/platform/core/payments/order_outbox_store.ts";
import {
  giveUpOrder,
  heldBack,
  openOrder,
  type PaymentOrder,
  putOff,
} from "../../../../src/platform/core/payments/payment_order.ts";
import { latestDueAt } from "../../../../src/platform/events/delivery/retry_delays.ts";
import { openTestStore } from "testing/test_store.ts";

const NOW = Date.UTC(2040, 0, 15);
const [A, B, C] = ["BANKA", "BANKB", "BANKC"].map(bankOf) as [BankCode, BankCode, BankCode];
const AHEAD = latestDueAt(NOW) + 1;

function bankOf(text: string): BankCode {
  const code = asBankCode(text);
  if (code === undefined) throw new Error(`${text} is no code`);
  return code;
}

/** Ids in their order: `id(1)` is before `id(2)`. */
function id(number: number): PaymentId {
  const found = asPaymentId(`0d2f7c1e-5a43-4f0e-9d1b-${String(number).padStart(12, "0")}`);
  if (found === undefined) throw new Error("a malformed id");
  return found;
}

interface Places {
  readonly store: Store;
  readonly outbox: OrderOutboxStore;
  /** What was told of queued orders. */
  readonly told: unknown[];
  add(order: PaymentOrder): Promise<void>;
}

async function openPlaces(): Promise<Places> {
  const store = await openTestStore();
  const outbox = openOrderOutboxStore(store);
  const told: unknown[] = [];
  outbox.onQueued((bank, dueAt) => told.push([bank, dueAt - NOW]));
  return {
    ...{ store, outbox, told },
    async add(order) {
      await commitIfUnchanged({ store, clock: () => NOW }, (tx) => outbox.stageOpening(tx, order));
    },
  };
}

const waiting = (number: number, bank: BankCode, dueAt: number): PaymentOrder =>
  putOff(openOrder(id(number), bank, NOW), dueAt);
const held = (number: number, bank: BankCode): PaymentOrder =>
  heldBack(openOrder(id(number), bank, NOW), "why", NOW);
const dead = (number: number, bank: BankCode): PaymentOrder =>
  giveUpOrder(openOrder(id(number), bank, NOW), "why", NOW);

Deno.test("queues are found bank after bank, with the time of the next order, also of one whose time is too far ahead", async () => {
  const { outbox, told, add, store } = await openPlaces();
  assertEquals([await outbox.nextQueue(undefined), await outbox.firstDue(A, NOW)], [undefined, undefined]);
  await add(waiting(1, A, NOW + 1));
  await add(waiting(2, B, NOW + 2));
  await add(waiting(3, B, AHEAD));
  await add(openOrder(id(4), C, NOW));
  await add(waiting(5, C, NOW));
  await add(held(6, A));
  assertEquals(told, [["BANKA", 1], ["BANKB", 2], ["BANKB", AHEAD - NOW], ["BANKC", 15_000], ["BANKC", 0]]);
  const next = await Promise.all([undefined, A, B, C].map((bank) => outbox.nextQueue(bank)));
  assertEquals(next, [A, B, C, undefined]);
  const firsts = await Promise.all([A, B, C].map((bank) => outbox.firstDue(bank, NOW)));
  assertEquals(firsts, [NOW + 1, AHEAD, NOW]);
  assertEquals(await outbox.firstDue(B, NOW + 2), NOW + 2);
  await store.close();
});

Deno.test("a part of the queues passes over a bank's further orders, except those of a time too far ahead", async () => {
  const { outbox, add, store } = await openPlaces();
  await add(waiting(1, A, NOW));
  await add(waiting(2, A, NOW + 1));
  await add(waiting(3, A, AHEAD));
  await add(waiting(4, B, NOW + 3));
  const parts: unknown[] = [];
  let after: Parameters<OrderOutboxStore["queued"]>[0];
  do {
    const { rows, next } = await outbox.queued(after, NOW, 1);
    parts.push(rows.map(({ bank, dueAt }) => `${bank} ${dueAt - NOW}`).join());
    after = next;
  } while (after !== undefined);
  assertEquals(parts, ["BANKA 0", `BANKA ${AHEAD - NOW}`, "BANKB 3", ""]);
  const whole = await outbox.queued(undefined, NOW, 5);
  assertEquals([whole.rows.length, whole.next], [4, undefined]);
  assertEquals((await outbox.queued(undefined, NOW, 4)).next?.[0], B);
  await store.close();
});

Deno.test("a bank's due orders come oldest first in pages, those of a time too far ahead behind them", async () => {
  const { outbox, add, store } = await openPlaces();
  for (const [number, dueAt] of [NOW - 2, NOW - 1, NOW, NOW + 1, AHEAD, AHEAD + 1].entries()) {
    await add(waiting(number, A, dueAt));
  }
  await add(waiting(9, B, NOW));
  const numbers = (orders: readonly { readonly paymentId: PaymentId }[]): readonly number[] =>
    orders.map(({ paymentId }) => Number(paymentId.slice(-12)));
  const first = await outbox.due(A, NOW, 2);
  assertEquals(numbers(first), [0, 1]);
  assertEquals(numbers(await outbox.due(A, NOW, 2, first[1])), [2, 4]);
  assertEquals(numbers(await outbox.due(A, NOW, 4)), [0, 1, 2, 4]);
  assertEquals(numbers(await outbox.due(A, NOW, 9)), [0, 1, 2, 4, 5]);
  assertEquals(first[0]?.key, ["outbox_queue", "BANKA", String(NOW - 2).padStart(15, "0"), id(0)]);
  await store.close();
});

Deno.test("stopped orders are listed by bank and id from a place on, without those that have left their state", async () => {
  const { outbox, add, store } = await openPlaces();
  for (const [number, bank] of [A, A, B, C].entries()) await add(held(number, bank));
  for (const number of [10, 11]) await add(dead(number, number === 10 ? B : A));
  await add(waiting(20, B, NOW));
  type Rows = Awaited<ReturnType<OrderOutboxStore["held" | "dead" | "waiting"]>>;
  const shown = (rows: Rows): unknown => rows.map(({ place, shown }) => [place.join(" "), shown?.state]);
  const heldRow = (number: number, bank: BankCode): unknown => [`${bank} ${id(number)}`, "held"];
  const all = [heldRow(0, A), heldRow(1, A), heldRow(2, B), heldRow(3, C)];
  assertEquals(shown(await outbox.held(undefined, 9)), all);
  assertEquals(shown(await outbox.held(undefined, 3)), all.slice(0, 3));
  assertEquals(shown(await outbox.held([A, id(0)], 9)), all.slice(1));
  assertEquals(shown(await outbox.held(undefined, 9, A)), all.slice(0, 2));
  assertEquals(shown(await outbox.held([A, id(0)], 9, A)), all.slice(1, 2));
  assertEquals(shown(await outbox.dead(undefined, 9)), [[id(10), "dead"], [id(11), "dead"]]);
  assertEquals(shown(await outbox.dead([id(10)], 9)), [[id(11), "dead"]]);
  const place = `${B} ${String(NOW).padStart(15, "0")} ${id(20)}`;
  assertEquals(shown(await outbox.waiting(undefined, 9, B)), [[place, "waiting"]]);
  assertEquals(shown(await outbox.waiting(undefined, 9, A)), []);
  const banks = await Promise.all([undefined, A, B, C].map((bank) => outbox.nextHeldBank(bank)));
  assertEquals(banks, [A, B, C, undefined]);
  assertEquals([await outbox.heldOf(A, 9), await outbox.heldOf(A, 1)], [[id(0), id(1)], [id(0)]]);
  await store.commit({ checks: [], writes: [{ kind: "delete", key: ["outbox", id(1)] }] });
  const value = { ...dead(2, B), v: 1 };
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["outbox", id(2)], value }] });
  assertEquals(shown(await outbox.held(undefined, 9)), [
    heldRow(0, A),
    [`${A} ${id(1)}`, undefined],
    [`${B} ${id(2)}`, undefined],
    heldRow(3, C),
  ]);
  assertEquals([outboxAhead(id(1)), outboxAhead("no id")], [[["outbox", id(1)]], []]);
  await store.close();
});
