/**
 * The outbox: orders still to be pushed, with one index by due time and one of those given up. An order is written
 * in its payment's commit and leaves in the commit that records the bank's answer, so none is lost and none is
 * answered twice.
 */
import { asPaymentId, type PaymentId } from "../kernel/identifiers.ts";
import { outboxDeadKey, outboxDueKey, outboxKey } from "../store/keys.ts";
import type { Entry, Key, Reader, Store } from "../store/store.ts";
import { check, remove, set, type Transaction } from "../store/transaction.ts";
import type { PaymentOrder } from "./payment_order.ts";

/** Reads and stages orders. */
export interface OrderOutboxStore {
  find(paymentId: PaymentId, from?: Reader): Promise<Entry<PaymentOrder> | null>;
  /** Orders due at `now`, longest due first. */
  due(now: number, limit: number): Promise<readonly PaymentId[]>;
  /** Orders given up, by payment id, after the one given. */
  dead(after: PaymentId | undefined, limit: number): Promise<readonly PaymentOrder[]>;
  stageOpening(tx: Transaction, order: PaymentOrder): void;
  /** Stages a change; of parallel ones (two workers, one order) one commits. */
  stageChange(tx: Transaction, former: Entry<PaymentOrder>, changed: PaymentOrder): void;
  /** Stages the end: the bank has answered. */
  stageDelivery(tx: Transaction, former: Entry<PaymentOrder>): void;
}

/** The key of the order of the payment that a path names: what to read ahead. */
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
    dead: (after, limit) => listDead(store, after, limit),
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

async function listDead(
  store: Store,
  after: PaymentId | undefined,
  limit: number,
): Promise<readonly PaymentOrder[]> {
  const prefix: Key = ["outbox_dead"];
  const listing = after === undefined ? { prefix, limit } : { prefix, limit, after: outboxDeadKey(after) };
  const listed = await store.list<PaymentId>(listing);
  const ids = listed.flatMap(({ value }) => asPaymentId(value) ?? []);
  const orders = await store.getMany<PaymentOrder>(ids.map(outboxKey));
  return orders.flatMap((entry) => entry?.value ?? []).filter(({ dead }) => dead);
}

function stageOrder(tx: Transaction, order: PaymentOrder): void {
  set(tx, outboxKey(order.paymentId), order);
  set(tx, indexKey(order), order.paymentId);
}

function indexKey({ dead, dueAt, paymentId }: PaymentOrder): Key {
  return dead ? outboxDeadKey(paymentId) : outboxDueKey(dueAt, paymentId);
}
