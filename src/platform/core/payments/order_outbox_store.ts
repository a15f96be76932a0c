/**
 * The outbox: orders still to be pushed, with a queue per bank by due time, an index of held orders and one of dead
 * orders. An order is written in its payment's commit and deleted in the commit that records the bank's response, so
 * that no order is lost or answered twice.
 */
import type { WallTime } from "../../../base/kernel/clock.ts";
import { asBankCode, asPaymentId, type BankCode, type PaymentId } from "../../../base/kernel/identifiers.ts";
import { outboxDeadKey, outboxHeldKey, outboxKey, outboxQueueKey } from "../../config/store_keys.ts";
import type { Entry, Key, Listing, Reader, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import {
  outboxDeadRecord,
  outboxHeldRecord,
  outboxQueueRecord,
  outboxRecord,
} from "./order_outbox_records.ts";
import { isDue, latestDueAt } from "../../events/delivery/retry_delays.ts";
import type { Row } from "../../../base/store/page.ts";
import {
  type DeadOrder,
  type HeldOrder,
  isQueued,
  type PaymentOrder,
  type QueuedOrder,
} from "./payment_order.ts";

const DEAD: Key = ["outbox_dead"];
const HELD: Key = ["outbox_held"];
const QUEUE: Key = ["outbox_queue"];
/** Sorts after every payment id. */
const AFTER_EVERY_ID = "~";

/** An order's entry in its bank's queue. */
export interface DueOrder {
  readonly key: Key;
  readonly paymentId: PaymentId;
}

/**
 * The place of an order in its list: the payment id of a dead one; bank and payment id of a held one; bank, due time and
 * payment id of a waiting one.
 */
export type OrderPlace = readonly string[];

/** A part of the queues, and the place where the next part begins, if there is one. */
export interface QueuePage {
  readonly rows: readonly { readonly bank: BankCode; readonly dueAt: WallTime }[];
  readonly next: OrderPlace | undefined;
}

type Rows<Order> = Promise<readonly Row<Order, OrderPlace>[]>;

export interface OrderOutboxStore {
  find(from: Reader, paymentId: PaymentId): Promise<Entry<PaymentOrder> | null>;
  /** Returns the first bank after `after` that has orders to push. */
  nextQueue(after: BankCode | undefined): Promise<BankCode | undefined>;
  /** Returns when an order of the bank that is due at `now` is due, otherwise its next one, or undefined without any. */
  firstDue(bank: BankCode, now: WallTime): Promise<WallTime | undefined>;
  /**
   * Returns banks and due times in the order of the queues, after the place `after`. Of a bank with more orders than fit,
   * the next page has none, except those with a `dueAt` too far ahead.
   */
  queued(after: OrderPlace | undefined, now: WallTime, limit: number): Promise<QueuePage>;
  /** Calls `queued` when this process has committed an order of the bank that is or will be due. It must not throw. */
  onQueued(queued: (bank: BankCode, dueAt: WallTime) => void): void;
  /** Returns a bank's orders that are due at `now`, oldest first, after the order `after`. */
  due(bank: BankCode, now: WallTime, limit: number, after?: DueOrder): Promise<readonly DueOrder[]>;
  /** Returns dead orders by payment id, after the id `after`. */
  dead(after: OrderPlace | undefined, limit: number): Rows<DeadOrder>;
  /** Returns held orders by bank and payment id, after the place `after`; of one bank only, if it is named. */
  held(after: OrderPlace | undefined, limit: number, bank?: BankCode): Rows<HeldOrder>;
  /** Returns orders that wait or are being pushed, by bank and due time, after the place `after`. */
  waiting(after: OrderPlace | undefined, limit: number, bank?: BankCode): Rows<QueuedOrder>;
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
  const listeners: Parameters<OrderOutboxStore["onQueued"]>[0][] = [];
  const stageOrder = (tx: Transaction, order: PaymentOrder): void => {
    outboxRecord.set(tx, outboxKey(order.paymentId), order);
    INDEXES[order.state].set(tx, indexKey(order), order.paymentId);
    if (isQueued(order)) {
      tx.onCommit.push(() => listeners.forEach((queued) => queued(order.bank, order.dueAt)));
    }
  };
  return {
    onQueued: (queued) => void listeners.push(queued),
    find: (from, paymentId) => outboxRecord.get(from, outboxKey(paymentId)),
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

function queues(store: Store): Pick<OrderOutboxStore, "nextQueue" | "firstDue" | "queued" | "due"> {
  return {
    nextQueue: (after) => nextBank(store, QUEUE, after),
    async firstDue(bank, now) {
      const prefix = [...QUEUE, bank];
      const first = await firstBelow(store, { prefix });
      if (first === undefined || isDue(dueAtOf(first), now)) return first && dueAtOf(first);
      return dueAtOf(await firstBelow(store, { prefix, after: latestOf(bank, now) }) ?? first);
    },
    async queued(after, now, limit) {
      const start = after === undefined ? {} : { after: [...QUEUE, ...after] };
      const listed = await store.list({ prefix: QUEUE, ...start, limit });
      const rows = listed.flatMap((entry) => {
        const bank = asBankCode(entry.key[1]);
        return bank === undefined ? [] : { bank, dueAt: dueAtOf(entry) };
      });
      const last = rows.at(-1);
      if (listed.length < limit || last === undefined) return { rows, next: undefined };
      const isAhead = last.dueAt > latestDueAt(now);
      return { rows, next: isAhead ? [last.bank, AFTER_EVERY_ID] : latestOf(last.bank, now).slice(1) };
    },
    due: (bank, now, limit, after) => dueOrders(store, bank, { now, limit, after }),
  };
}

async function firstBelow(
  store: Store,
  listing: Omit<Listing, "limit">,
): Promise<Entry<unknown> | undefined> {
  return (await store.list({ ...listing, limit: 1 }))[0];
}

/** Returns the first bank after `after` that an index names. */
async function nextBank(
  store: Store,
  index: Key,
  after: BankCode | undefined,
): Promise<BankCode | undefined> {
  const start = after === undefined ? {} : { after: [...index, after, AFTER_EVERY_ID] };
  return asBankCode((await firstBelow(store, { prefix: index, ...start }))?.key[1]);
}

/** Returns the due orders. Those with a `dueAt` too far ahead are sorted behind the orders that wait, so they need a read of their own. */
async function dueOrders(
  store: Store,
  bank: BankCode,
  { now, limit, after }: {
    readonly now: WallTime;
    readonly limit: number;
    readonly after: DueOrder | undefined;
  },
): Promise<readonly DueOrder[]> {
  const asDue = (entry: Entry<unknown>): DueOrder => {
    const { key, value } = outboxQueueRecord.decode(entry);
    return { key, paymentId: value };
  };
  const prefix = [...QUEUE, bank];
  const start = after === undefined ? {} : { after: after.key };
  const listed = await store.list({ prefix, ...start, limit });
  if (listed.every((entry) => isDue(dueAtOf(entry), now))) return listed.map(asDue);
  const passed = listed.filter((entry) => dueAtOf(entry) <= now);
  const ahead = await store.list({ prefix, after: latestOf(bank, now), limit: limit - passed.length });
  return [...passed, ...ahead].map(asDue);
}

/** Returns the place in a bank's queue behind which orders have a `dueAt` too far ahead. */
function latestOf(bank: BankCode, now: WallTime): Key {
  return [...QUEUE, bank, String(latestDueAt(now)).padStart(15, "0"), AFTER_EVERY_ID];
}

function dueAtOf({ key }: { readonly key: Key }): WallTime {
  return Number(key[2]);
}

function stoppedOrders(
  store: Store,
): Pick<OrderOutboxStore, "dead" | "held" | "waiting" | "nextHeldBank" | "heldOf"> {
  const isDead = (order: PaymentOrder): order is DeadOrder => order.state === "dead";
  const isHeld = (order: PaymentOrder): order is HeldOrder => order.state === "held";
  return {
    dead: (after, limit) => ordersIn(store, DEAD, { after, limit }, isDead),
    held: (after, limit, bank) => ordersIn(store, HELD, { after, limit, bank }, isHeld),
    waiting: (after, limit, bank) => ordersIn(store, QUEUE, { after, limit, bank }, isQueued),
    nextHeldBank: (after) => nextBank(store, HELD, after),
    async heldOf(bank, limit) {
      const listed = await store.list({ prefix: [...HELD, bank], limit });
      return listed.map((entry) => outboxHeldRecord.decode(entry).value);
    },
  };
}

interface Asked {
  readonly after: OrderPlace | undefined;
  readonly limit: number;
  readonly bank?: BankCode | undefined;
}

/** Returns a page of an index. An order may have left the state since the index was read. */
async function ordersIn<Order extends PaymentOrder>(
  store: Store,
  index: Key,
  { after, limit, bank }: Asked,
  isListed: (order: PaymentOrder) => order is Order,
): Rows<Order> {
  const prefix = bank === undefined ? index : [...index, bank];
  const start = after === undefined ? {} : { after: [...index, ...after] };
  const listed = await store.list<PaymentId>({ prefix, ...start, limit });
  const orders = await store.getMany(listed.map(({ value }) => outboxKey(value)));
  return listed.map(({ key }, at) => {
    const entry = orders[at] ?? null;
    const order = entry === null ? undefined : outboxRecord.decode(entry).value;
    return { place: key.slice(1), shown: order !== undefined && isListed(order) ? order : undefined };
  });
}

const INDEXES = {
  waiting: outboxQueueRecord,
  leased: outboxQueueRecord,
  held: outboxHeldRecord,
  dead: outboxDeadRecord,
} as const;

function indexKey(order: PaymentOrder): Key {
  const { bank, paymentId } = order;
  if (order.state === "dead") return outboxDeadKey(paymentId);
  return order.state === "held"
    ? outboxHeldKey(bank, paymentId)
    : outboxQueueKey(bank, order.dueAt, paymentId);
}
