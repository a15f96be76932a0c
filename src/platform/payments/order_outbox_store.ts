/**
 * The outbox: orders still to be pushed, with a queue per bank by due time, an index of held orders and one of dead
 * orders. An order is written in its payment's commit and deleted in the commit that records the bank's response, so
 * that no order is lost or answered twice.
 */
import { asBankCode, asPaymentId, type BankCode, type PaymentId } from "../../base/kernel/identifiers.ts";
import { outboxDeadKey, outboxHeldKey, outboxKey, outboxQueueKey } from "../store_keys.ts";
import type { Entry, Key, Listing, Reader, Store } from "../../base/store/store.ts";
import { check, remove, set, type Transaction } from "../../base/store/transaction.ts";
import { isDue, latestDueAt, type PaymentOrder } from "./payment_order.ts";

const DEAD: Key = ["outbox_dead"];
const HELD: Key = ["outbox_held"];
const QUEUE: Key = ["outbox_queue"];
/** One queue for all banks by due time, written by earlier versions. */
const FORMER_QUEUE: Key = ["outbox_due"];
const REQUEUED_AT_ONCE = 100;
/** Sorts after every payment id. */
const AFTER_EVERY_ID = "~";

/** An order's entry in its bank's queue. */
export interface DueOrder {
  readonly key: Key;
  readonly paymentId: PaymentId;
}

export interface OrderOutboxStore {
  find(paymentId: PaymentId, from?: Reader): Promise<Entry<PaymentOrder> | null>;
  /** Returns the first bank after `after` that has orders to push, and when its first order is due (milliseconds). */
  nextQueue(
    after: BankCode | undefined,
  ): Promise<{ readonly bank: BankCode; readonly dueAt: number } | undefined>;
  /** Returns a bank's orders that are due at `now`, oldest first, after the order `after`. */
  due(bank: BankCode, now: number, limit: number, after?: DueOrder): Promise<readonly DueOrder[]>;
  /** Moves orders from the single queue of earlier versions. */
  requeue(): Promise<void>;
  /** Returns dead orders by payment id, after the id `after`. */
  dead(after: PaymentId | undefined, limit: number): Promise<readonly PaymentOrder[]>;
  /** Returns held orders by bank and payment id, after the order `after`. */
  held(
    after: Pick<PaymentOrder, "bank" | "paymentId"> | undefined,
    limit: number,
  ): Promise<readonly PaymentOrder[]>;
  /** Returns the first bank after `after` that has held orders. */
  nextHeldBank(after: BankCode | undefined): Promise<BankCode | undefined>;
  /** Returns held orders of one bank. */
  heldOf(bank: BankCode, limit: number): Promise<readonly PaymentId[]>;
  stageOpening(tx: Transaction, order: PaymentOrder): void;
  /** Stages a change. Of parallel changes (two workers, one order) only one commits. */
  stageChange(tx: Transaction, former: Entry<PaymentOrder>, changed: PaymentOrder): void;
  /** Stages the deletion after the bank has responded. */
  stageDelivery(tx: Transaction, former: Entry<PaymentOrder>): void;
}

/** Keys to prefetch for the order of the payment that a path names. */
export function outboxAhead(idText: unknown): readonly Key[] {
  const id = asPaymentId(idText);
  return id === undefined ? [] : [outboxKey(id)];
}

export function openOrderOutboxStore(store: Store): OrderOutboxStore {
  return {
    find: (paymentId, from = store) => from.get<PaymentOrder>(outboxKey(paymentId)),
    ...queues(store),
    ...stoppedOrders(store),
    stageOpening(tx, order) {
      check(tx, outboxKey(order.paymentId), null);
      stageOrder(tx, order);
    },
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      remove(tx, indexKey(former.value));
      stageOrder(tx, changed);
    },
    stageDelivery(tx, former) {
      check(tx, former.key, former.version);
      remove(tx, former.key);
      remove(tx, indexKey(former.value));
    },
  };
}

function queues(store: Store): Pick<OrderOutboxStore, "nextQueue" | "due" | "requeue"> {
  return {
    async nextQueue(after) {
      const start = after === undefined ? {} : { after: [...QUEUE, after, AFTER_EVERY_ID] };
      const [first] = await store.list<PaymentId>({ prefix: QUEUE, ...start, limit: 1 });
      const bank = asBankCode(first?.key[1]);
      return bank === undefined ? undefined : { bank, dueAt: Number(first?.key[2]) };
    },
    due: (bank, now, limit, after) => dueOrders(store, bank, { now, limit, after }),
    async requeue() {
      const listed = await store.list<PaymentId>({ prefix: FORMER_QUEUE, limit: REQUEUED_AT_ONCE });
      for (const { key, value } of listed) await requeue(store, key, value);
    },
  };
}

/** Returns the due orders. Those with a `dueAt` too far ahead are sorted behind the orders that wait, so they need a read of their own. */
async function dueOrders(
  store: Store,
  bank: BankCode,
  { now, limit, after }: {
    readonly now: number;
    readonly limit: number;
    readonly after: DueOrder | undefined;
  },
): Promise<readonly DueOrder[]> {
  const asDue = ({ key, value }: Entry<PaymentId>): DueOrder => ({ key, paymentId: value });
  const prefix = [...QUEUE, bank];
  const start = after === undefined ? {} : { after: after.key };
  const listed = await store.list<PaymentId>({ prefix, ...start, limit });
  if (listed.every(({ key }) => isDue(Number(key[2]), now))) return listed.map(asDue);
  const passed = listed.filter(({ key }) => Number(key[2]) <= now);
  const latest = [...prefix, String(latestDueAt(now)).padStart(15, "0"), AFTER_EVERY_ID];
  const ahead = await store.list<PaymentId>({ prefix, after: latest, limit: limit - passed.length });
  return [...passed, ...ahead].map(asDue);
}

/** The order may have been deleted or queued again meanwhile, so its own entry decides. */
async function requeue(store: Store, formerKey: Key, paymentId: PaymentId): Promise<void> {
  const order = await store.get<PaymentOrder>(outboxKey(paymentId));
  await store.commit({
    checks: [{ key: outboxKey(paymentId), version: order?.version ?? null }],
    writes: [
      { kind: "delete", key: formerKey },
      ...(order === null ? [] : [{ kind: "set", key: indexKey(order.value), value: paymentId } as const]),
    ],
  });
}

function stoppedOrders(
  store: Store,
): Pick<OrderOutboxStore, "dead" | "held" | "nextHeldBank" | "heldOf"> {
  return {
    async dead(after, limit) {
      const listing = {
        prefix: DEAD,
        ...(after === undefined ? {} : { after: outboxDeadKey(after) }),
        limit,
      };
      return (await ordersIn(store, listing)).filter(({ dead }) => dead);
    },
    async held(after, limit) {
      const start = after === undefined ? {} : { after: outboxHeldKey(after.bank, after.paymentId) };
      return (await ordersIn(store, { prefix: HELD, ...start, limit })).filter(({ held }) =>
        held !== undefined
      );
    },
    async nextHeldBank(after) {
      const start = after === undefined ? {} : { after: [...HELD, after, AFTER_EVERY_ID] };
      const [first] = await store.list<PaymentId>({ prefix: HELD, ...start, limit: 1 });
      return asBankCode(first?.key[1]);
    },
    async heldOf(bank, limit) {
      const listed = await store.list<PaymentId>({ prefix: [...HELD, bank], limit });
      return listed.map(({ value }) => value);
    },
  };
}

/** Returns the orders that a page of an index names. */
async function ordersIn(store: Store, listing: Listing): Promise<readonly PaymentOrder[]> {
  const listed = await store.list<PaymentId>(listing);
  const ids = listed.flatMap(({ value }) => asPaymentId(value) ?? []);
  const orders = await store.getMany<PaymentOrder>(ids.map(outboxKey));
  return orders.flatMap((entry) => entry?.value ?? []);
}

function stageOrder(tx: Transaction, order: PaymentOrder): void {
  set(tx, outboxKey(order.paymentId), order);
  set(tx, indexKey(order), order.paymentId);
}

function indexKey({ dead, held, dueAt, bank, paymentId }: PaymentOrder): Key {
  if (dead) return outboxDeadKey(paymentId);
  return held === undefined ? outboxQueueKey(bank, dueAt, paymentId) : outboxHeldKey(bank, paymentId);
}
