/** The memory of when each bank's queue is due: what it costs, and how it learns and heals [D4]. */
import { assert, assertEquals } from "@std/assert";
import { asBankCode, asPaymentId, type BankCode } from "../../../../src/base/kernel/identifiers.ts";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import { type DueBanks, openDueBanks } from "../../../../src/platform/core/payments/due_banks.ts";
import {
  openOrderOutboxStore,
  type OrderOutboxStore,
} from "../../../../src/platform/core/payments/order_outbox_store.ts";
import {
  giveUpOrder,
  heldBack,
  isQueued,
  type LeasedOrder,
  openOrder,
  putOff,
  resumeOrder,
  retryOrder,
} from "../../../../src/platform/core/payments/payment_order.ts";
import { accepts, openPushEnvironment } from "support/orders.ts";
import { MAX_SKEW_MS } from "../../../../src/base/kernel/clock.ts";
import { isComplete } from "support/part_of.ts";
import { latestDueAt } from "../../../../src/platform/events/delivery/retry_delays.ts";

const NOW = Date.UTC(2040, 0, 15);

/** A store that counts listings and the rows that they return. */
async function openListedStore() {
  const store = await openDenoKv(":memory:");
  const cost = { lists: 0, rows: 0 };
  const list: Store["list"] = async (listing) => {
    const rows = await store.list<never>(listing);
    cost.lists++;
    cost.rows += rows.length;
    return rows;
  };
  return { ...store, list, cost };
}

function bankAt(index: number): BankCode {
  const bank = asBankCode(`B${String(index).padStart(4, "0")}`);
  if (bank === undefined) throw new Error("the bank's code is malformed");
  return bank;
}

interface Process {
  readonly outbox: OrderOutboxStore;
  readonly banks: DueBanks;
}

function openProcess(store: Store, waited: ReadonlySet<string> = new Set()): Process {
  const outbox = openOrderOutboxStore(store);
  return { outbox, banks: openDueBanks({ outbox, waitedFor: () => waited }) };
}

/** Adds orders in one commit, as the process with this outbox. */
async function add(
  store: Store,
  outbox: OrderOutboxStore,
  orders: readonly { readonly bank: BankCode; readonly dueAt: number }[],
): Promise<readonly LeasedOrder[]> {
  const added = orders.map(({ bank, dueAt }) => {
    const paymentId = asPaymentId(crypto.randomUUID());
    if (paymentId === undefined) throw new Error("the payment's id is malformed");
    return { ...openOrder(paymentId, bank, NOW), dueAt };
  });
  const isAdded = await commitIfUnchanged(
    { store, clock: () => NOW },
    (tx) => added.forEach((order) => outbox.stageOpening(tx, order)),
  );
  assert(isAdded);
  return added;
}

/** Orders of each bank in the largest queues: 100,000 of all banks in a complete run. */
const MANY = isComplete ? 100 : 2;

/** Adds an order of each of so many banks, due in five minutes. */
async function addQueues(store: Store, outbox: OrderOutboxStore, count: number, now = NOW): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const banks = Array.from({ length: Math.min(100, count - from) }, (_, at) => bankAt(from + at));
    await add(store, outbox, banks.map((bank) => ({ bank, dueAt: now + 300_000 })));
  }
}

Deno.test("a pass with nothing due reads as much with 1,000 banks that have many orders as with 200, also in the first minute after a start [D4]", async () => {
  for (const [banks, orders] of [[200, 1], [1000, MANY]] as const) {
    const store = await openListedStore();
    const { outbox } = openProcess(store);
    for (let order = 0; order < orders; order++) await addQueues(store, outbox, banks);
    const started = openProcess(store);
    assertEquals(await started.banks.find(NOW), []); // reads all queues once
    for (let pass = 1; pass <= 60; pass++) {
      Object.assign(store.cost, { lists: 0, rows: 0 });
      assertEquals(await started.banks.find(NOW + pass * 1000), []);
      assert(store.cost.lists <= 8 && store.cost.rows <= 160, JSON.stringify(store.cost));
    }
    await store.close();
  }
});

Deno.test("a pass reads 20 rows at a time, all queues at first and after a step of the clock, then 8 parts, and a bank without orders once [D4]", async () => {
  const [state, limits, looked] = [{ reads: 0, isEnd: false }, new Set<number>(), [] as BankCode[]];
  let queued: (bank: BankCode, dueAt: number) => void = () => {};
  const banks = openDueBanks({
    waitedFor: () => new Set(),
    outbox: {
      onQueued: (listener) => void (queued = listener),
      firstDue: (bank) => Promise.resolve(void looked.push(bank)),
      queued(_after, _now, limit) {
        limits.add(limit);
        state.reads++;
        return Promise.resolve({ rows: [], next: state.isEnd ? undefined : ["B0001", "~"] });
      },
    },
  });
  const readsAt = async (now: number): Promise<number> => {
    state.reads = 0;
    assertEquals(await banks.find(now), []);
    return state.reads;
  };
  assertEquals([await readsAt(NOW), await readsAt(NOW)], [10_000, 10_000]);
  state.isEnd = true;
  assertEquals(await readsAt(NOW), 1);
  state.isEnd = false;
  assertEquals([await readsAt(NOW), await readsAt(NOW - MAX_SKEW_MS), [...limits]], [8, 8, [20]]);
  assertEquals(await readsAt(NOW - MAX_SKEW_MS - 1), 10_000);
  queued(bankAt(7), NOW);
  await banks.find(NOW);
  await banks.find(NOW);
  assertEquals(looked, [bankAt(7)]);
});

Deno.test("of 1,000 banks those with a due order are found at once, at one further reading each [D4]", async () => {
  const store = await openListedStore();
  const { outbox, banks } = openProcess(store);
  await addQueues(store, outbox, 1000);
  await banks.find(NOW);
  const due = [7, 500, 999].map(bankAt);
  await add(store, outbox, due.map((bank) => ({ bank, dueAt: NOW + 10_000 })));
  Object.assign(store.cost, { lists: 0, rows: 0 });
  assertEquals((await banks.find(NOW + 10_000)).toSorted(), due);
  assert(store.cost.lists <= 8 + due.length, JSON.stringify(store.cost));
  assertEquals((await openProcess(store).banks.find(NOW + 10_000)).toSorted(), due, "after a restart");
  await store.close();
});

Deno.test("a bank stays due until its order is taken, and is due again when the lease ends [D4]", async () => {
  const store = await openListedStore();
  const { outbox, banks } = openProcess(store);
  const [order] = await add(store, outbox, [{ bank: bankAt(1), dueAt: NOW }]);
  if (order === undefined) throw new Error("no order");
  for (let pass = 0; pass < 3; pass++) assertEquals(await banks.find(NOW), [bankAt(1)]);
  const change = async (changed: Parameters<OrderOutboxStore["stageChange"]>[2]): Promise<void> => {
    const entry = await outbox.find(store, order.paymentId);
    if (entry === null) throw new Error("no order");
    assert(
      await commitIfUnchanged({ store, clock: () => NOW }, (tx) => outbox.stageChange(tx, entry, changed)),
    );
  };
  await change(putOff(order, NOW + 15_000));
  assertEquals(await banks.find(NOW), []);
  assertEquals(await banks.find(NOW + 15_000), [bankAt(1)]);
  const held = heldBack(order, "the bank is not active", NOW);
  await change(held);
  assertEquals(await banks.find(NOW + 15_000), [], "held");
  const back = resumeOrder(held, NOW + 15_000);
  await change(back);
  assertEquals(await banks.find(NOW + 15_000), [bankAt(1)], "resumed");
  assert(isQueued(back));
  const dead = giveUpOrder(order, "given up", NOW);
  await change(dead);
  assertEquals(await banks.find(NOW + 15_000), [], "dead");
  await change(retryOrder(dead, NOW + 15_000));
  assertEquals(await banks.find(NOW + 15_000), [bankAt(1)], "redriven");
  await store.close();
});

Deno.test("an order that another process has added is found within a round of 1,000 banks, though that process has ended [D4]", async () => {
  const store = await openListedStore();
  const { outbox, banks } = openProcess(store);
  await addQueues(store, outbox, 1000);
  await banks.find(NOW);
  await add(store, openProcess(store).outbox, [{ bank: bankAt(999), dueAt: NOW + 1000 }]);
  let passes = 0;
  for (; passes < 10 && (await banks.find(NOW + 1000)).length === 0; passes++);
  assert(passes <= 7, `${passes} passes`); // 160 of 1,001 rows each
  assertEquals(await banks.find(NOW + 1000), [bankAt(999)], "and it stays known");
  await store.close();
});

Deno.test("a queue behind one with many orders is found, and so is an order too far ahead at the end of such a queue [D4]", async () => {
  const store = await openListedStore();
  const other = openProcess(store).outbox;
  const many = Array.from({ length: 100 }, (_, at) => ({ bank: bankAt(1), dueAt: NOW + 60_000 + at }));
  await add(store, other, many);
  await add(store, other, [{ bank: bankAt(2), dueAt: NOW }]);
  const { banks } = openProcess(store);
  assertEquals(await banks.find(NOW), [bankAt(2)]);
  await add(store, other, [{ bank: bankAt(1), dueAt: latestDueAt(NOW) + 1 }]);
  assertEquals(await banks.find(NOW), [bankAt(1), bankAt(2)]);
  await store.close();
});

Deno.test("a clock that is put back makes an order due that it had stored too far ahead, behind one that waits [D4]", async () => {
  const store = await openListedStore();
  const { outbox, banks } = openProcess(store);
  const before = NOW - 3_600_000;
  await addQueues(store, outbox, 1000, before);
  await add(store, outbox, [{ bank: bankAt(998), dueAt: NOW + 600_000 }]);
  assertEquals((await banks.find(NOW)).length, 1000);
  assertEquals(await banks.find(before), [bankAt(998)]);
  await store.close();
});

Deno.test("after a failed read of a queue its bank is still known [D4]", async () => {
  const store = await openListedStore();
  let failures = 0;
  const failing: Store = {
    ...store,
    list: (listing) =>
      listing.prefix.length > 1 && failures-- > 0
        ? Promise.reject(new Error("the disk fails"))
        : store.list(listing),
  };
  await addQueues(store, openProcess(store).outbox, 1000);
  const { banks } = openProcess(failing);
  await banks.find(NOW);
  failures = 1;
  assertEquals(await banks.find(NOW + 300_000).then(() => "read", () => "failed"), "failed");
  assertEquals((await banks.find(NOW + 300_000)).length, 1000);
  await store.close();
});

Deno.test("a bank that this process has waited for is due, whatever its stored time says [D4]", async () => {
  const store = await openListedStore();
  const { outbox, banks } = openProcess(store, new Set([bankAt(3), bankAt(4)]));
  await add(store, outbox, [{ bank: bankAt(3), dueAt: NOW + 60_000 }]);
  assertEquals(await banks.find(NOW), [bankAt(3)]);
  await store.close();
});

Deno.test("the platform's work on due orders reads as much with 1,000 banks that wait as with 200 [D4]", async () => {
  for (const banks of [200, 1000]) {
    const store = await openListedStore();
    await using env = await openPushEnvironment(accepts, { store });
    await addQueues(store, openOrderOutboxStore(store), banks, env.now);
    await env.platform.deliverDueOrders();
    Object.assign(store.cost, { lists: 0, rows: 0 });
    assertEquals(await env.platform.deliverDueOrders(), 0);
    assert(store.cost.lists <= 9 && store.cost.rows <= 160, JSON.stringify(store.cost)); // one is of held orders
  }
});
