/**
 * Delivers an order: lease it, push it, record the response. Delivery is at least once. The bank identifies the
 * payment by its id, so the effect is exactly once (Decisions D1, D4).
 */
import { decide } from "../../evidence/personal_data.ts";
import { isStoreFailure } from "../../../base/kernel/api_error.ts";
import { errorText } from "../../../base/kernel/batches.ts";
import type { BankCode, ClientId, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { SteadyClock } from "../../../base/kernel/clock.ts";
import type { Entry } from "../../../base/store/store.ts";
import { transact } from "../../../base/store/transaction.ts";
import type { FiguresRecorder } from "../../observed/figures/recorder.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import type { PushedMessage, ReceiverCircuit } from "../../events/delivery/receiver_circuit.ts";
import type { DueBanks } from "./due_banks.ts";
import { holdBack, reportDead } from "./held_orders.ts";
import type { AuditEvent } from "../../evidence/audit_trail.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Payment, ReadablePayment } from "./payment.ts";
import { afterWord, beforeReport, isLegalMove, movedAt } from "./payment.ts";
import {
  afterFailure,
  type DeadOrder,
  giveUpOrder,
  isHeldForPush,
  type LeasedOrder,
  mayHaveTaken,
  type PushFailure,
  putOff,
  type UnusableAnswer,
  type WaitingOrder,
  whyDead,
} from "./payment_order.ts";
import { microseconds, type SpanQueue } from "../../../base/observability/spans.ts";
import type { PaymentStore } from "./payment_store.ts";
import { boundedPauseSeconds } from "../../events/delivery/retry_delays.ts";
import type { PushSlots } from "../../events/delivery/push_slots.ts";
import { pushOrder, type PushOrderDeps, type PushOutcome, unsentPush } from "./push_order.ts";
import { hasLease, type LeaseOrdersDeps } from "./lease_orders.ts";

/** The breaker of each bank, by TPP. */
export type BankCircuit = ReceiverCircuit<BankCode, ClientId>;

export interface DeliverOrderDeps extends PushOrderDeps, LeaseOrdersDeps {
  /** For durations. */
  readonly steady: SteadyClock;
  readonly payments: PaymentStore;
  readonly circuit: BankCircuit;
  readonly metrics: PlatformMetrics;
  readonly figures: Pick<FiguresRecorder, "payment" | "push" | "order">;
  /** Undefined if no spans are sent. */
  readonly spans: Pick<SpanQueue, "add"> | undefined;
  /** Returns the bank's registration. */
  readonly findBank: (bank: BankCode) => Promise<OrderReceiver | null>;
  /** Records for the bank what was wrong with its response. Must not wait or throw. */
  readonly traceAnswer: (answer: TracedAnswer) => void;
  /** Returns why the bank must not get orders now, for the operator, or undefined if it may. */
  readonly whyHeld: (bank: BankCode) => Promise<string | undefined>;
  /** Returns 0 to less than 1, for the jitter of retries and the order of batches. */
  readonly random: () => number;
  readonly slots: PushSlots<BankCode>;
  readonly dueBanks: DueBanks;
  /** Banks whose due orders this process is walking through. */
  readonly walking: Set<BankCode>;
  /** Unfinished deliveries. Each removes itself and none rejects. */
  readonly underWay: Set<Promise<void>>;
}

/** A bank that takes orders. */
export interface OrderReceiver {
  readonly clientId: ClientId;
  readonly orgId: string;
  /** Its registered address for orders. */
  readonly paymentOrdersUri?: string;
}

/** A response of a bank that leaves the order undecided. */
export interface TracedAnswer extends UnusableAnswer {
  readonly payment: Payment;
  readonly to: OrderReceiver;
  /** When the push began, and how long it took, milliseconds. */
  readonly at: number;
  readonly milliseconds: number;
}

/**
 * Delivers an order that the caller has leased: the first push, by the request that created the payment. Does not
 * push if the lease has ended meanwhile or the bank has reported a status, because the order then belongs to
 * another worker or is done.
 */
export async function deliverOwn(deps: DeliverOrderDeps, own: LeasedOrder): Promise<void> {
  const entry = await deps.outbox.find(deps.store, own.paymentId);
  if (entry !== null && hasLease(entry, own)) await deliver(deps, entry);
}

/**
 * Delivers an order that the caller has taken. Returns true if it was pushed, with any result. Rejects only if the
 * store fails, because other errors of one order must not delay others.
 */
export async function deliverTaken(deps: DeliverOrderDeps, entry: Entry<LeasedOrder>): Promise<boolean> {
  try {
    return await deliver(deps, entry);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    const { paymentId } = entry.value;
    deps.log.error("order.delivery_failed", { paymentId, error: errorText(error) });
    return false;
  }
}

/** Returns true if the order was pushed, with any result. */
async function deliver(deps: DeliverOrderDeps, entry: Entry<LeasedOrder>): Promise<boolean> {
  const { paymentId, bank } = entry.value;
  const why = await deps.whyHeld(bank);
  if (why !== undefined) {
    deps.memory.forget(paymentId);
    await holdBack(deps, entry, why);
    return false;
  }
  const [payment, to] = await Promise.all([deps.payments.find(deps.store, paymentId), deps.findBank(bank)]);
  if (payment === null) throw new Error("an order without its payment");
  const readable = checkSendable(payment.value);
  if (typeof readable === "string") {
    await stageResult(deps, entry, giveUpOrder(entry.value, readable, deps.clock()));
    return false;
  }
  const message = { receiver: bank, sender: payment.value.clientId, failures: entry.value.failures };
  const waitUntil = deps.circuit.admit(message);
  if (waitUntil !== undefined) {
    await postpone(deps, entry, waitUntil - deps.steady());
    return false;
  }
  if (!isHeldForPush(entry.value, deps.clock())) return false; // lease lost: this worker stalled
  const [at, began] = [deps.clock(), deps.steady()];
  const { outcome, evidence } = to?.paymentOrdersUri === undefined
    ? unsentPush("the bank has no payment_orders_uri")
    : await pushOrder(deps, to.paymentOrdersUri, readable, at);
  const milliseconds = deps.steady() - began;
  measure(deps, bank, outcome, { at, milliseconds });
  if (to !== null && !outcome.ok && outcome.failure.answer !== undefined) {
    deps.traceAnswer({ ...outcome.failure.answer, payment: payment.value, to, at, milliseconds });
  }
  reportTo(deps.circuit, message, outcome);
  if (outcome.ok) deps.memory.forget(paymentId);
  if (outcome.ok) await endOrder(deps, entry.value, outcome, evidence);
  else await recordFailure(deps, entry, outcome.failure, evidence);
  return true;
}

/** Returns the payment, or why its order can never be sent. */
function checkSendable(payment: Payment): ReadablePayment | string {
  return decide<Payment, ReadablePayment | string>(payment, {
    present: (value) => value,
    erased: () => "its personal data was erased",
    lost: () => "the key of its personal data is lost",
  });
}

async function postpone(deps: DeliverOrderDeps, entry: Entry<LeasedOrder>, waitMs: number): Promise<void> {
  const { paymentId: id, bank: receiver, failures } = entry.value;
  deps.memory.waits({ id, receiver, failures }, waitMs);
  await stageResult(deps, entry, putOff(entry.value, deps.clock() + waitMs));
}

function measure(
  { metrics, figures, spans }: DeliverOrderDeps,
  bank: BankCode,
  outcome: PushOutcome,
  { at: start, milliseconds }: { readonly at: number; readonly milliseconds: number },
): void {
  const result = outcome.ok ? "answered" : outcome.failure.kind;
  metrics.count("platform_order_pushes_total", { bank, result });
  if (result === "unsent") return;
  figures.push(bank, result, milliseconds);
  spans?.add({ // contract QTR2
    name: "push order",
    kind: "client",
    start,
    milliseconds,
    attributes: {
      "payment.bank": bank,
      "payment.push_result": result,
      "payment.microseconds": microseconds(milliseconds),
    },
    failed: !outcome.ok,
  });
  metrics.observe("platform_order_push_duration_seconds", { bank }, milliseconds / 1000);
}

/** A 4xx or an unusable response concerns only the order: the bank was reached. */
function reportTo(
  circuit: BankCircuit,
  message: PushedMessage<BankCode, ClientId>,
  outcome: PushOutcome,
): void {
  const kind = outcome.ok ? "answered" : outcome.failure.kind;
  if (kind === "unreachable") circuit.unreachable(message);
  else if (kind !== "unsent") circuit.answered(message.receiver);
  const seconds = outcome.ok ? undefined : outcome.failure.retryAfterSeconds;
  if (seconds !== undefined) circuit.paused(message, boundedPauseSeconds(seconds) * 1000);
}

/** Records the bank's answer and counts the order, unless another worker or the bank's own report has ended it. */
async function endOrder(
  deps: DeliverOrderDeps,
  { paymentId, bank, failures, mayBeAtBank }: LeasedOrder,
  outcome: Extract<PushOutcome, { ok: true }>,
  evidence: readonly Evidence[],
): Promise<void> {
  if (!await recordAnswer(deps, paymentId, outcome, evidence)) return;
  deps.figures.order(bank, failures === 0 && !mayBeAtBank ? "answeredAtFirst" : "answeredLater");
  deps.log.info("order.delivered", { paymentId, answer: outcome.answer });
}

/**
 * Writes status and outbox in one commit. The bank may have reported a later status on the back channel meanwhile.
 */
async function recordAnswer(
  deps: DeliverOrderDeps,
  paymentId: PaymentId,
  { answer, ...word }: Extract<PushOutcome, { ok: true }>,
  evidence: readonly Evidence[],
): Promise<boolean> {
  // If every race is lost, the order is still in the outbox, so it is pushed again.
  const lost = (): boolean => {
    deps.log.warn("order.answer_not_recorded", { paymentId, answer });
    return false;
  };
  return await transact(deps, { what: "answered order", lost }, async (tx) => {
    const [order, payment] = await Promise.all([
      deps.outbox.find(tx, paymentId),
      deps.payments.find(tx, paymentId),
    ]);
    if (payment === null) throw new Error("an answer to an order without its payment");
    const before = beforeReport(payment.value);
    const moves = isLegalMove(before.status, answer);
    if (order === null && !moves) return false; // already recorded, by another worker or the bank's own report
    if (order !== null) deps.outbox.stageDelivery(tx, order);
    const now = deps.clock();
    const actor = `bank ${payment.value.bank}`;
    if (moves) {
      const changed = afterWord(before, answer, movedAt(before, now, now), word);
      const cause = { actor, reason: "answered to its order", evidence }; // the bank's words are in the evidence
      deps.payments.stageChange(tx, payment, changed, cause, now);
    } else {
      const event = { at: now, event: "payment_order.delivered", actor, evidence };
      await deps.payments.stageNote(tx, paymentId, event);
    }
    return true;
  });
}

/** Records in the payment's history what may be at the bank, also if the lease is lost and another worker goes on. */
async function recordFailure(
  deps: DeliverOrderDeps,
  entry: Entry<LeasedOrder>,
  failure: PushFailure,
  evidence: readonly Evidence[],
): Promise<void> {
  const { paymentId, bank } = entry.value;
  const now = deps.clock();
  const mayGiveUp = deps.memory.mayGiveUp(paymentId);
  const failed = afterFailure(entry.value, failure, { now, random: deps.random, mayGiveUp });
  if (failed.state === "dead") deps.memory.forget(paymentId);
  else deps.memory.waits({ id: paymentId, receiver: bank, failures: failed.failures }, failed.dueAt - now);
  const isNoted = mayHaveTaken(failure);
  const note = { event: "payment_order.outcome_unknown", actor: "platform", reason: failure.why, evidence };
  if (!await stageResult(deps, entry, failed, isNoted ? note : undefined, evidence)) return;
  if (failed.state === "waiting") {
    deps.log.warn("order.not_delivered", { paymentId, bank, failures: failed.failures, why: failure.why });
  }
}

/**
 * Ends the lease with a result. Returns false if the lease is lost: another worker has the order and records its
 * result.
 *
 * @param note for the payment's history
 * @param evidence for the entry that the order is dead
 */
async function stageResult(
  deps: DeliverOrderDeps,
  { value: own }: Entry<LeasedOrder>,
  changed: WaitingOrder | DeadOrder,
  note?: Omit<AuditEvent, "at">,
  evidence: readonly Evidence[] = [],
): Promise<boolean> {
  const { paymentId } = changed;
  const ended = await transact(deps, { what: "failed order" }, async (tx) => {
    const entry = await deps.outbox.find(tx, paymentId);
    const isOwn = entry !== null && hasLease(entry, own);
    if (isOwn) deps.outbox.stageChange(tx, entry, changed);
    const noted = isOwn && changed.state === "dead"
      ? { event: "payment_order.dead", actor: "platform", reason: whyDead(changed), evidence }
      : note;
    if (noted !== undefined) await deps.payments.stageNote(tx, paymentId, { at: deps.clock(), ...noted });
    return isOwn;
  });
  if (ended && changed.state === "dead") reportDead(deps, changed);
  return ended;
}
