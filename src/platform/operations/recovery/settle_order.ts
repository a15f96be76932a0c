/**
 * Applies one order of a bank's statement to the restored store. The payment gets the status that the bank states, or
 * is recovered if the store had lost it. Each order is one commit with its evidence, and repeating it has no further
 * effect.
 */
import { deletedCase } from "../../evidence/deleted_case_store.ts";
import { fingerprint } from "../../guards/idempotency/idempotent.ts";
import { moveConsent } from "../../core/consents/consent.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import {
  afterWord,
  beforeReport,
  isReachable,
  movedAt,
  type Payment,
  type ReadablePayment,
  saidOf,
} from "../../core/payments/payment.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import type { OrderOutboxStore } from "../../core/payments/order_outbox_store.ts";
import { caseIdOf, type CaseKeys } from "../../evidence/data_keys/case_keys.ts";
import { decide, PRESENT } from "../../evidence/personal_data.ts";
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Entry } from "../../../base/store/store.ts";
import { transact, type TransactDeps, type Transaction } from "../../../base/store/transaction.ts";
import type { Finding } from "./hold.ts";
import type { StatedOrder } from "./order_statement_schema.ts";
import { openOwnOrder, type OrderedPayment, orderKeysOf, type OwnKeys } from "./own_order.ts";
import { statedEvidence } from "./stated_order.ts";

export interface SettleOrderDeps extends TransactDeps {
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly outbox: OrderOutboxStore;
  readonly ownKeys: () => OwnKeys;
  /** Absent in a sandbox without sealing. */
  readonly caseKeys?: Pick<CaseKeys, "isErased"> | undefined;
}

/** A bank and its statement. */
export interface ByStatement {
  readonly bank: BankCode;
  /** SHA-256 of the statement, base64url. */
  readonly statement: string;
  /** Why the bank made it, for histories. */
  readonly reason: string;
}

/**
 * Applies the order and returns the finding.
 *
 * @throws {ApiError} `platform.unavailable` if parallel changes keep committing first
 */
export async function settleOrder(
  deps: SettleOrderDeps,
  by: ByStatement,
  stated: StatedOrder,
): Promise<Finding> {
  return await transact(deps, { what: "payment of a statement" }, async (tx) => {
    const payment = await deps.payments.find(tx, stated.paymentId);
    if (payment === null && await isGone(deps, tx, stated.paymentId)) return "agreed";
    if (payment !== null) return await stageStatus(deps, tx, by, payment, stated);
    const finding = await stageRecovery(deps, tx, by, stated);
    // A parallel comparison may have recovered it since. Then its consent is Consumed, which is no disagreement.
    if (finding !== "recovered") deps.payments.stageAbsence(tx, stated.paymentId);
    return finding;
  });
}

/** Whether the case was erased or deleted since the copy was taken. It is not recovered (contract EN11, EN14). */
async function isGone(
  { caseKeys }: SettleOrderDeps,
  tx: Transaction,
  paymentId: PaymentId,
): Promise<boolean> {
  const caseId = caseIdOf(paymentId);
  return await deletedCase(tx, paymentId) !== null ||
    (caseId !== undefined && await caseKeys?.isErased(caseId) === true);
}

/**
 * The store has the payment: it gets the bank's status, and its order is deleted from the outbox. The bank goes on
 * reporting while it is held, so the store may have a status that follows the stated one and is younger.
 */
async function stageStatus(
  deps: SettleOrderDeps,
  tx: Transaction,
  { bank, statement, reason: why }: ByStatement,
  entry: Entry<Payment>,
  stated: StatedOrder,
): Promise<Finding> {
  const payment = beforeReport(entry.value);
  if (payment.bank !== bank || payment.consentId !== stated.consentId) {
    return disagree(stated, "the platform knows this payment with another bank or consent");
  }
  const order = await deps.outbox.find(tx, payment.id);
  const comparison = decide<Payment, "none" | (() => Promise<string | undefined>)>(payment, {
    present: (readable) => () => differs(deps, bank, readable, stated.order),
    erased: () => "none", // it was final
    lost: () => () => Promise.resolve(undefined), // its status alone can be compared
  });
  if (comparison === "none") {
    if (order !== null) deps.outbox.stageDelivery(tx, order); // of the copy, from before the erasure
    return "agreed";
  }
  const fault = await comparison();
  if (fault !== undefined) return disagree(stated, fault);
  const isReportedSince = payment.statusUpdatedAt > stated.statedAt &&
    isReachable(stated.status, payment.status);
  const isAgreed = payment.status === stated.status || isReportedSince;
  if (!isAgreed && !isReachable(payment.status, stated.status)) {
    return disagree(stated, `the platform has it as ${payment.status}, the bank as ${stated.status}`);
  }
  if (order !== null && stated.status !== "Pending") deps.outbox.stageDelivery(tx, order);
  if (isAgreed) return "agreed";
  const now = deps.clock();
  const statusUpdatedAt = movedAt(payment, stated.statusUpdatedAt, now);
  const changed = afterWord(payment, stated.status, statusUpdatedAt, stated);
  const evidence = [statedEvidence(stated, statement)];
  deps.payments.stageChange(tx, entry, changed, { ...causeOf(bank, why), evidence }, now);
  return "updated";
}

/**
 * Returns the fault if the bank received another order than the store has, because the same consent was paid again
 * after the restore.
 */
async function differs(
  deps: SettleOrderDeps,
  bank: BankCode,
  payment: ReadablePayment,
  text: string | undefined,
): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const former = (): Promise<OwnKeys> => orderKeysOf(deps.store, payment.id);
  const ordered = await openOwnOrder(deps.ownKeys(), bank, text, former);
  if (!ordered.ok) return `the order that the bank brings: ${ordered.fault.why}`;
  const facts = ({ id, initiation, debtorAccount }: OrderedPayment): unknown => ({
    id,
    initiation,
    debtorAccount,
  });
  const same = await fingerprint(facts(ordered.value.payment)) === await fingerprint(facts(payment));
  return same ? undefined : "the bank took an order with another account or other details";
}

/**
 * The store has lost the payment: it is recovered from the platform's own signed order, and its consent becomes
 * consumed.
 */
async function stageRecovery(
  deps: SettleOrderDeps,
  tx: Transaction,
  { bank, statement, reason: why }: ByStatement,
  stated: StatedOrder,
): Promise<Finding> {
  if (stated.order === undefined) {
    return disagree(stated, "unknown here; the statement must bring the order as the bank received it");
  }
  const own = await openOwnOrder(deps.ownKeys(), bank, stated.order);
  if (!own.ok) return disagree(stated, `the order that the bank brings: ${own.fault.why}`);
  const { payment: ordered, evidence: order } = own.value;
  if (ordered.id !== stated.paymentId || ordered.consentId !== stated.consentId) {
    return disagree(stated, "the order that the bank brings is another one");
  }
  const at = deps.clock();
  const consumed = await stageConsumption(deps, tx, bank, { ordered, at, why });
  if (typeof consumed === "string") return disagree(stated, consumed);
  const { status } = stated;
  const statusUpdatedAt = Math.max(ordered.createdAt, Math.min(stated.statusUpdatedAt, at));
  const payment = {
    ...ordered,
    status,
    statusUpdatedAt,
    charges: [],
    ...saidOf(status, stated),
    personalData: PRESENT,
  };
  const evidence = [statedEvidence(stated, statement), order];
  deps.payments.stageCreation(tx, payment, { ...causeOf(bank, why), evidence }, { consumed, at });
  return "recovered";
}

/**
 * Returns the position of the consent's entry, milliseconds, or why the consent cannot have led to this payment. A consent
 * that was created after the copy is lost permanently. The payment is stored without it.
 */
async function stageConsumption(
  deps: SettleOrderDeps,
  tx: Transaction,
  bank: BankCode,
  { ordered, at, why }: { readonly ordered: OrderedPayment; readonly at: number; readonly why: string },
): Promise<number | string | undefined> {
  const consent = await deps.consents.find(tx, ordered.consentId);
  if (consent === null) return undefined;
  if (consent.value.bank !== bank || consent.value.clientId !== ordered.clientId) {
    return "the platform knows its consent with another bank or TPP";
  }
  if (consent.value.status === "Consumed") return "its consent has led to another payment";
  return deps.consents.stageChange(
    tx,
    consent,
    moveConsent(consent.value, "recover", at),
    causeOf(bank, why),
    at,
  );
}

function causeOf(bank: BankCode, reason: string): { actor: string; reason: string } {
  return { actor: `bank ${bank}`, reason };
}

function disagree({ paymentId }: StatedOrder, why: string): Finding {
  return { paymentId, why };
}
