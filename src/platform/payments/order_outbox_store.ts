/**
 * The outbox: orders still to be pushed, with an index by due time, one of those held and one of those given up. An order is written
 * in its payment's commit and leaves in the commit that records the bank's answer, so none is lost and none is
 * answered twice.
 */
import { asBankCode, asPaymentId, type BankCode, type PaymentId } from "../../base/kernel/identifiers.ts";
import { outboxDeadKey, outboxDueKey, outboxHeldKey, outboxKey } from "../store_keys.ts";
import type { Entry, Key, Listing, Reader, Store } from "../../base/store/store.ts";
import { check, remove, set, type Transaction } from "../../base/store/transaction.ts";
import type { PaymentOrder } from "./payment_order.ts";

const DEAD: Key = ["outbox_dead"];
const HELD: Key = ["outbox_held"];
/** Sorts behind every payment id. */
const AFTER_EVERY_ID = "~";

/** Reads and stages orders. */
export interface OrderOutboxStore {
  find(paymentId: PaymentId, from?: Reader): Promise<Entry<PaymentOrder> | null>;
  /** Orders due at `now`, longest due first. */
  due(now: number, limit: number): Promise<readonly PaymentId[]>;
  /** Orders given up, by payment id, after the one given. */
  dead(after: PaymentId | undefined, limit: number): Promise<readonly PaymentOrder[]>;
  /** Orders held, by bank and payment id, after the one given. */
  held(
    after: Pick<PaymentOrder, "bank" | "paymentId"> | undefined,
    limit: number,
  ): Promise<readonly PaymentOrder[]>;
  /** The first bank after the one given that has held orders. */
  nextHeldBank(after: BankCode | undefined): Promise<BankCode | undefined>;
  /** Held orders of one bank. */
  heldOf(bank: BankCode, limit: number): Promise<readonly PaymentId[]>;
  stageOpening(tx: Transaction, order: PaymentOrder): void;
  /** Stages a change; of parallel ones (two workers, one order) one commits. */
  stageChange(tx: Transaction, former: Entry<PaymentOrder>, changed: PaymentOrder): void;
  /** Stages the end: the bank has answered. */
  stageDelivery(tx: Transaction, former: Entry<PaymentOrder>): void;
}

/** The key of the order of the payment that a path names: what to prefetch. */
export function outboxAhead(idText: unknown): readonly Key[] {
  const id = asPaymentId(idText);
  return id === undefined ? [] : [outboxKey(id)];
}

/** Opens the outbox. */
export function openOrderOutboxStore(store: Store): OrderOutboxStore {
  return {
    find: (paymentId, from = store) => from.get<PaymentOrder>(outboxKey(paymentId)),
    async due(now, limit) {
      const entries = await store.list<PaymentId>({ prefix: ["outbox_due"], limit });
      return entries.filter(({ key }) => Number(key[1]) <= now).map(({ value }) => value);
    },
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

/** The orders that a page of an index names. */
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
  return held === undefined ? outboxDueKey(dueAt, paymentId) : outboxHeldKey(bank, paymentId);
}
