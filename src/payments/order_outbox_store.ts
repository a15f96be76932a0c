/**
 * The outbox: orders still to be pushed, with an index by due time. An order is written in its payment's commit and
 * leaves in the commit that records the bank's answer, so none is lost and none is answered twice.
 */
import type { PaymentId } from "../kernel/identifiers.ts";
import { outboxDueKey, outboxKey } from "../store/keys.ts";
import type { Entry, Store } from "../store/store.ts";
import { check, remove, set, type Transaction } from "../store/transaction.ts";
import type { PaymentOrder } from "./payment_order.ts";

/** Reads and stages orders. */
export interface OrderOutboxStore {
  find(paymentId: PaymentId): Promise<Entry<PaymentOrder> | null>;
  /** Orders due at `now`, longest due first. */
  due(now: number, limit: number): Promise<readonly PaymentId[]>;
  /** Orders given up, in no particular order. */
  dead(limit: number): Promise<readonly PaymentOrder[]>;
  stageOpening(tx: Transaction, order: PaymentOrder): void;
  /** Stages a change; of parallel ones (two workers, one order) one commits. */
  stageChange(tx: Transaction, former: Entry<PaymentOrder>, changed: PaymentOrder): void;
  /** Stages the end: the bank has answered. */
  stageDelivery(tx: Transaction, former: Entry<PaymentOrder>): void;
}

/** Opens the outbox. */
export function openOrderOutboxStore(store: Store): OrderOutboxStore {
  return {
    find: (paymentId) => store.get<PaymentOrder>(outboxKey(paymentId)),
    async due(now, limit) {
      const entries = await store.list<PaymentId>({ prefix: ["outbox_due"], limit });
      return entries.filter(({ key }) => Number(key[1]) <= now).map(({ value }) => value);
    },
    async dead(limit) {
      const entries = await store.list<PaymentOrder>({ prefix: ["outbox"], limit });
      return entries.map(({ value }) => value).filter(({ dead }) => dead);
    },
    stageOpening(tx, order) {
      check(tx, outboxKey(order.paymentId), null);
      stageOrder(tx, order);
    },
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      remove(tx, outboxDueKey(former.value.dueAt, former.value.paymentId));
      stageOrder(tx, changed);
    },
    stageDelivery(tx, former) {
      check(tx, former.key, former.version);
      remove(tx, former.key);
      remove(tx, outboxDueKey(former.value.dueAt, former.value.paymentId));
    },
  };
}

function stageOrder(tx: Transaction, order: PaymentOrder): void {
  set(tx, outboxKey(order.paymentId), order);
  if (!order.dead) set(tx, outboxDueKey(order.dueAt, order.paymentId), order.paymentId);
}
