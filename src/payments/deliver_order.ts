/**
 * Delivers an order: take it, push it, record the answer. At least once towards the bank, which knows the payment by
 * its id, so exactly once in effect (Decisions D1, D4).
 */
import type { BankCode, PaymentId } from "../kernel/identifiers.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../observability/log.ts";
import type { Entry, Store } from "../store/store.ts";
import { begin, commit } from "../store/transaction.ts";
import type { BankCircuit } from "./bank_circuit.ts";
import type { OrderOutboxStore } from "./order_outbox_store.ts";
import type { Payment } from "./payment.ts";
import { isLegalMove } from "./payment.ts";
import { afterFailure, leased, type PaymentOrder, putOff } from "./payment_order.ts";
import type { PaymentStore } from "./payment_store.ts";
import { type OrderAnswer, pushOrder, type PushOrderDeps } from "./push_order.ts";

/** What delivery needs. */
export interface DeliverOrderDeps extends PushOrderDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly payments: PaymentStore;
  readonly outbox: OrderOutboxStore;
  readonly circuit: BankCircuit;
  /** Where the bank takes orders, by its registration now. */
  readonly paymentOrdersUri: (bank: BankCode) => Promise<string | undefined>;
  /** 0 to 1, for the jitter of retries. */
  readonly random: () => number;
}

const BATCH = 50;
const MAX_ATTEMPTS = 5;

/** Delivers the orders that are due; gives how many were tried. Run it every second, in as many processes as there are. */
export async function deliverDueOrders(deps: DeliverOrderDeps): Promise<number> {
  const due = await deps.outbox.due(deps.clock(), BATCH);
  const tried = await Promise.all(due.map((paymentId) => takeAndDeliver(deps, paymentId)));
  return tried.filter((was) => was).length;
}

/** Delivers an order that is in the caller's hands already: the first push, by the request that made the payment. */
export async function deliverFirst(deps: DeliverOrderDeps, paymentId: PaymentId): Promise<void> {
  const entry = await deps.outbox.find(paymentId);
  if (entry !== null && !entry.value.dead) await deliver(deps, entry);
}

async function takeAndDeliver(deps: DeliverOrderDeps, paymentId: PaymentId): Promise<boolean> {
  const entry = await deps.outbox.find(paymentId);
  const now = deps.clock();
  if (entry === null || entry.value.dead || entry.value.dueAt > now) return false;
  const openUntil = deps.circuit.openUntil(entry.value.bank);
  const taken = openUntil === undefined ? leased(entry.value, now) : putOff(entry.value, openUntil);
  const tx = begin();
  deps.outbox.stageChange(tx, entry, taken);
  if (!await commit(deps.store, deps.clock, tx) || openUntil !== undefined) return false; // another worker has it
  const mine = await deps.outbox.find(paymentId);
  if (mine === null) return false;
  await deliver(deps, mine);
  return true;
}

async function deliver(deps: DeliverOrderDeps, entry: Entry<PaymentOrder>): Promise<void> {
  const { paymentId, bank } = entry.value;
  const [payment, uri] = await Promise.all([deps.payments.find(paymentId), deps.paymentOrdersUri(bank)]);
  if (payment === null) throw new Error("an order without its payment");
  const pushed = uri === undefined
    ? { ok: false as const, why: "the bank has no payment_orders_uri" }
    : await pushOrder(deps, uri, payment.value, deps.clock());
  if (pushed.ok) {
    deps.circuit.succeeded(bank);
    await recordAnswer(deps, paymentId, pushed.value);
    return;
  }
  deps.circuit.failed(bank);
  await recordFailure(deps, entry, pushed.why);
}

/** Status and outbox in one commit; the bank may have reported further on the back channel meanwhile. */
async function recordAnswer(
  deps: DeliverOrderDeps,
  paymentId: PaymentId,
  answer: OrderAnswer,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [order, payment] = await Promise.all([deps.outbox.find(paymentId), deps.payments.find(paymentId)]);
    if (order === null || payment === null) return;
    const tx = begin();
    deps.outbox.stageDelivery(tx, order);
    if (isLegalMove(payment.value.status, answer)) {
      const changed: Payment = { ...payment.value, status: answer, statusUpdatedAt: deps.clock() };
      deps.payments.stageChange(tx, payment, changed, `bank ${payment.value.bank}`);
    }
    if (!await commit(deps.store, deps.clock, tx)) continue;
    deps.log.info("order.delivered", { paymentId, answer });
    return;
  }
}

async function recordFailure(deps: DeliverOrderDeps, entry: Entry<PaymentOrder>, why: string): Promise<void> {
  const failed = afterFailure(entry.value, why, deps.clock(), deps.random);
  const tx = begin();
  deps.outbox.stageChange(tx, entry, failed);
  await commit(deps.store, deps.clock, tx); // where somebody else has taken it since, it is theirs to record
  const fields = { paymentId: failed.paymentId, bank: failed.bank, failures: failed.failures, why };
  if (failed.dead) deps.log.error("order.dead", fields);
  else deps.log.warn("order.not_delivered", fields);
}
