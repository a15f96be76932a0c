/** A domestic payment and its legal status changes (contract PT1 to PT10). No I/O. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { Recorded } from "../../evidence/audit_trail.ts";
import type { Erased, PersonalData, Present } from "../../evidence/personal_data.ts";
import type { Initiation } from "../consents/initiation.ts";
import { boundedText } from "../../../base/kernel/foreign_text.ts";
import type { Account } from "../../../base/values/account.ts";
import type { BankCode, ClientId, ConsentId, PaymentId } from "../../../base/kernel/identifiers.ts";
import { MAX_STATUS_REASON_CHARACTERS } from "../../../base/profile.ts";
import { bankReason, type BankReasonCode, type ReasonCode } from "../../../base/values/reason_codes.ts";

/** Contract PT1 to PT10. */
export const PAYMENT_STATUSES = [
  "Pending",
  "Rejected",
  "AcceptedSettlementInProcess",
  "AcceptedSettlementCompleted",
  "AcceptedWithoutPosting",
  "AcceptedCreditSettlementCompleted",
] as const;

/** One of {@link PAYMENT_STATUSES}. */
export type PaymentStatus = typeof PAYMENT_STATUSES[number];

/** An account that pays. Without a currency it has the payment's. */
export interface PayingAccount extends Account {
  readonly currency?: string | undefined;
}

/** A bank's charge for a payment. */
export interface Charge {
  readonly chargeBearer?: string | undefined;
  readonly type?: string | undefined;
  readonly amount: { readonly amount: string; readonly currency: string };
}

/** What a payment has from the last word about its status: the bank's, or an operator's in its place. */
export interface Said {
  /** The code of the reason for the rejection (contract RSN2). */
  readonly statusReasonCode?: ReasonCode;
  /** The bank's text about the rejection. */
  readonly statusReason?: string;
}

export interface Payment extends Recorded, Said {
  readonly id: PaymentId;
  readonly consentId: ConsentId;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly initiation: Initiation;
  /** The account that pays, named by the TPP or chosen by the customer. */
  readonly debtorAccount: PayingAccount;
  readonly readRefundAccount: boolean;
  readonly status: PaymentStatus;
  /** When an operator closed its order, milliseconds. Absent as soon as the bank reports a status (Decision O3). */
  readonly closedAt?: WallTime;
  readonly charges: readonly Charge[];
  /** Milliseconds. */
  readonly createdAt: WallTime;
  /** Milliseconds. For a status that the bank reported, the bank's time. */
  readonly statusUpdatedAt: WallTime;
  /** Once its case was erased, it does not exist for participants. */
  readonly personalData: PersonalData;
}

/** A payment with its personal data. */
export type ReadablePayment = Present<Payment>;

/** The payment of an erased case. */
export type ErasedPayment = Payment & { readonly personalData: Erased };

/** Contract PT3 to PT8: from -> to. The same status again is not a change. A change that is not listed is illegal. */
const MOVES: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  Pending: ["AcceptedSettlementInProcess", "Rejected"], // contract PT3, PT4
  AcceptedSettlementInProcess: ["AcceptedSettlementCompleted", "Rejected"], // contract PT5, PT4
  AcceptedSettlementCompleted: ["AcceptedWithoutPosting", "AcceptedCreditSettlementCompleted"], // contract PT7, PT6
  AcceptedWithoutPosting: ["AcceptedCreditSettlementCompleted", "Rejected"], // contract PT8
  AcceptedCreditSettlementCompleted: [], // contract PT10
  Rejected: [], // contract PT10
};

/**
 * Returns the payment as the bank's report finds it. A payment whose order an operator has closed waits for the bank's
 * word like one that was never answered (Decision O3).
 */
export function beforeReport(payment: Payment): Payment {
  if (payment.closedAt === undefined) return payment;
  const { closedAt: _, ...open } = withoutSaid(payment);
  return { ...open, status: "Pending" };
}

/** Whether no bank has to decide on it any more. It may still be credited. */
export function isDecided({ status }: Pick<Payment, "status">): boolean {
  return status !== "Pending" && status !== "AcceptedSettlementInProcess";
}

/** Returns the payment of an erased case: amount, statuses and times stay. `now` is in milliseconds. */
export function withoutPerson({ statusReason: _, ...payment }: Payment, now: WallTime): ErasedPayment {
  const { instructedAmount } = payment.initiation;
  // Participants cannot read it any more, so no code needs the required members.
  const initiation = { instructedAmount } as Initiation;
  return {
    ...payment,
    initiation,
    debtorAccount: { schemeName: "", identification: "" },
    personalData: { state: "erased", at: now, scope: "case" },
  };
}

/** Whether a payment may get from one status to another by one or several changes. */
export function isReachable(from: PaymentStatus, to: PaymentStatus): boolean {
  return MOVES[from].some((next) => next === to || isReachable(next, to)); // the changes have no cycle
}

/** Returns the statuses that can follow directly. */
export function movesFrom(status: PaymentStatus): readonly PaymentStatus[] {
  return MOVES[status];
}

/** Whether a payment may go from one status to another. */
export function isLegalMove(from: PaymentStatus, to: PaymentStatus): boolean {
  return MOVES[from].includes(to);
}

/** What a bank says beside a status. `bank_word_schema.ts` has its form. */
export interface BankWord {
  readonly reasonCode?: BankReasonCode | undefined;
  readonly reason?: string | undefined;
}

/** Returns the payment after a legal move, with what the bank said of it in place of what was said before. */
export function afterWord(
  payment: Payment,
  status: PaymentStatus,
  statusUpdatedAt: number,
  word: BankWord,
): Payment {
  return { ...withoutSaid(payment), status, statusUpdatedAt, ...saidOf(status, word) };
}

type Unsaid = Omit<Payment, keyof Said> & { readonly [Member in keyof Said]?: never };

function withoutSaid({ statusReason: _, statusReasonCode: __, ...payment }: Payment): Unsaid {
  return payment;
}

/** Returns what the payment has from the bank's word. Only `Rejected` has a reason (Decision G6, contract RSN2). */
export function saidOf(status: PaymentStatus, { reasonCode, reason }: BankWord): Said {
  return status === "Rejected" ? why(bankReason(reasonCode, reason), reason) : {};
}

/** Returns the reason of an operator who has closed the order. */
export function reasonOfClosing(reason: string): Said {
  return why("ORDER_CLOSED", reason);
}

function why(statusReasonCode: ReasonCode, text: string | undefined): Said {
  return text === undefined || text === ""
    ? { statusReasonCode }
    : { statusReasonCode, statusReason: boundedText(text, MAX_STATUS_REASON_CHARACTERS) };
}

/**
 * Returns the time of a status change that the bank dates at `claimed` and that is recorded at `now`, in
 * milliseconds. It is the bank's time, but not before the former status began and not in the future.
 */
export function movedAt(payment: Payment, claimed: number, now: WallTime): number {
  return Math.max(payment.statusUpdatedAt, Math.min(claimed, now));
}
