/**
 * Records a payment status that the bank reports (Decision D3). Only legal changes are accepted, and a repeated
 * status has no effect.
 */
import { forParticipant } from "../../guards/security/standing.ts";
import { decide } from "../../evidence/personal_data.ts";
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";
import { asPaymentId } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import {
  afterWord,
  beforeReport,
  isLegalMove,
  movedAt,
  movesFrom,
  type Payment,
  type PaymentStatus,
  type ReadablePayment,
} from "../payments/payment.ts";
import type { OrderOutboxStore } from "../payments/order_outbox_store.ts";
import type { PaymentStore } from "../payments/payment_store.ts";
import { type SignedBody, signedEvidence } from "../../guards/security/payload_signature.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../../base/store/transaction.ts";
import type { StatusReport } from "./status_report_schema.ts";

export interface ReportPaymentStatusDeps extends TransactDeps {
  readonly payments: PaymentStore;
  readonly outbox: OrderOutboxStore;
}

/** A decoded report with a verified signature. */
export interface ReportPaymentStatus extends RequestState {
  readonly bank: BankCode;
  readonly bankClientId: ClientId;
  readonly paymentIdText: string;
  readonly report: StatusReport;
  /** The signed body, stored as evidence. */
  readonly signedBody: SignedBody;
}

/**
 * Records the report and returns the payment.
 *
 * @throws {ApiError} `resource.not_found`, `payment.illegal_move`; `platform.unavailable`, once the report is recorded, if
 *   the payment's data key is lost
 */
export async function reportPaymentStatus(
  deps: ReportPaymentStatusDeps,
  command: ReportPaymentStatus,
): Promise<ReadablePayment> {
  const reportedNow = await transactFor(deps, command, { what: "payment status" }, async (tx) => {
    const entry = await findPayment(deps, tx, command.paymentIdText, command.bank);
    const payment = beforeReport(entry.value);
    if (payment.status === command.report.status) return entry.value; // contract PT9: a no-op
    const now = deps.clock();
    const changed = applyReport(payment, command.report, now);
    // The bank's own words may name a person. They are in the evidence.
    const cause = { actor: command.bankClientId, reason: "reported by the bank" };
    const proof = signedEvidence("status_report", command.signedBody);
    deps.payments.stageChange(tx, entry, changed, { ...cause, ...proof }, now);
    const order = await deps.outbox.find(tx, changed.id);
    if (order !== null) deps.outbox.stageDelivery(tx, order); // the bank has the order, so no push is needed
    return changed;
  });
  return forParticipant(reportedNow);
}

/**
 * Returns a payment of this bank, also one whose data key is lost: its status may still change.
 *
 * @throws {ApiError} `resource.not_found`
 */
export async function findPayment(
  deps: { readonly payments: PaymentStore },
  from: Reader,
  idText: string,
  bank: BankCode,
): Promise<Entry<Payment>> {
  const id = asPaymentId(idText);
  const entry = id === undefined ? null : await deps.payments.find(from, id);
  if (entry === null || entry.value.bank !== bank) throw new ApiError("resource.not_found");
  return decide(entry.value, {
    present: () => entry,
    erased: () => {
      throw new ApiError("resource.not_found");
    },
    lost: () => entry,
  });
}

function applyReport(payment: Payment, report: StatusReport, now: number): Payment {
  if (!isLegalMove(payment.status, report.status)) throw illegalMove(payment.status, report.status);
  const statusUpdatedAt = movedAt(payment, report.statusUpdatedAtMilliseconds, now);
  const { charges = payment.charges } = report;
  return { ...afterWord(payment, report.status, statusUpdatedAt, report), charges };
}

function illegalMove(from: PaymentStatus, to: PaymentStatus): ApiError {
  const next = movesFrom(from).join(" or ");
  const message = next === ""
    ? `Must be absent: ${from} is final, and no status follows it.`
    : `Must be a status that follows ${from}: ${next}.`;
  const fault = { code: "Field.Invalid", path: "Data.Status", message } as const;
  return new ApiError("payment.illegal_move", { detail: `${from} -> ${to}`, faults: [fault] });
}
