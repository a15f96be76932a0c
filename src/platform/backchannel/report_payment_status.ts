/**
 * Records a payment status that the bank reports (Decision D3). Only legal changes are accepted, and a repeated
 * status has no effect.
 */
import type { Clock } from "../../base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { asPaymentId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { isLegalMove, movedAt, type Payment, reasonOf } from "../payments/payment.ts";
import type { OrderOutboxStore } from "../payments/order_outbox_store.ts";
import type { PaymentStore } from "../payments/payment_store.ts";
import { stageEvidence } from "../security/evidence_store.ts";
import type { SignedBody } from "../security/payload_signature.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { begin, commit, type ReplayRecords, untilCommitted } from "../../base/store/transaction.ts";
import type { StatusReport } from "./status_report_schema.ts";

export interface ReportPaymentStatusDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly payments: PaymentStore;
  readonly outbox: OrderOutboxStore;
}

/** A decoded report with a verified signature. */
export interface ReportPaymentStatus {
  readonly bank: BankCode;
  readonly bankClientId: ClientId;
  readonly paymentIdText: string;
  readonly report: StatusReport;
  /** The signed body, stored as evidence. */
  readonly signedBody: SignedBody;
  readonly replayRecords: ReplayRecords;
  /** Prefetched entries, for the first attempt. */
  readonly reads: Reader;
}

/**
 * Records the report and returns the payment.
 *
 * @throws {ApiError} `resource.not_found`, `payment.illegal_move`
 */
export async function reportPaymentStatus(
  deps: ReportPaymentStatusDeps,
  command: ReportPaymentStatus,
): Promise<Payment> {
  return await untilCommitted("payment status", async (isFirst) => {
    const from = isFirst ? command.reads : undefined;
    const entry = await findPayment(deps, command.paymentIdText, command.bank, from);
    if (entry.value.status === command.report.status) return entry.value; // contract PT9: a no-op
    const now = deps.clock();
    const changed = reported(entry.value, command.report, now);
    const tx = begin(command.replayRecords);
    const reason = command.report.statusReason ?? "reported by the bank";
    deps.payments.stageChange(tx, entry, changed, { actor: command.bankClientId, reason }, now);
    stageEvidence(tx, `${changed.id} ${changed.status}`, command.signedBody);
    const order = await deps.outbox.find(changed.id, from);
    if (order !== null) deps.outbox.stageDelivery(tx, order); // the bank has the order, so no push is needed
    return await commit(deps.store, deps.clock, tx) ? changed : undefined;
  });
}

/**
 * Returns a payment of this bank.
 *
 * @throws {ApiError} `resource.not_found`
 */
export async function findPayment(
  deps: { readonly payments: PaymentStore },
  idText: string,
  bank: BankCode,
  from?: Reader,
): Promise<Entry<Payment>> {
  const id = asPaymentId(idText);
  const entry = id === undefined ? null : await deps.payments.find(id, from);
  if (entry === null || entry.value.bank !== bank) throw new ApiError("resource.not_found");
  return entry;
}

function reported(payment: Payment, report: StatusReport, now: number): Payment {
  if (!isLegalMove(payment.status, report.status)) throw illegalMove(`${payment.status} -> ${report.status}`);
  return {
    ...payment,
    status: report.status,
    statusUpdatedAt: movedAt(payment, report.statusUpdatedAtMilliseconds, now),
    ...reasonOf(report.status, report.statusReason),
    ...(report.charges === undefined ? {} : { charges: report.charges }),
  };
}

function illegalMove(detail: string): ApiError {
  return new ApiError("payment.illegal_move", detail);
}
