/**
 * A hold: after a restore, the orders of one bank wait until the platform has learnt which of them the bank has. No I/O.
 */
import type { BankCode, PaymentId } from "../../base/kernel/identifiers.ts";

/** A copy of the store that was put in the store's place. The backup command writes this mark into every copy. */
export interface CopyMark {
  readonly id: string;
  /** Milliseconds; commits after it are not in the copy. */
  readonly takenAt: number;
}

/** One life of the store: from a restore to the next. */
export interface Epoch {
  readonly id: string;
  /** Milliseconds. */
  readonly startedAt: number;
  readonly copy: CopyMark;
}

/** An order that the platform and the bank tell different things about. */
export interface Disagreement {
  readonly paymentId: PaymentId;
  readonly why: string;
}

/** What a comparison with the bank's statement has found so far. */
export interface Comparison {
  /** Orders that the store did not know: the payment was restored from the platform's own signed order. */
  readonly recovered: number;
  /** Orders whose status the statement moved on. */
  readonly updated: number;
  /** Orders of which both sides said the same. */
  readonly agreed: number;
  /** At most {@link MAX_DISAGREEMENTS}; the orders stay held while there is one. */
  readonly disagreements: readonly Disagreement[];
}

/** Why and since when a bank's orders are held. */
export interface Hold {
  readonly bank: BankCode;
  readonly epoch: string;
  /** Milliseconds; a statement that is older may lack orders that the bank took before the restore. */
  readonly restoredAt: number;
  /** Milliseconds; a statement must reach back to here. */
  readonly since: number;
  /** Where the next page of the bank's statement starts. Absent: no comparison is under way. */
  readonly after?: string;
  /** Of the comparison under way, or of the last one. */
  readonly comparison: Comparison;
}

/** Recorded disagreements; further ones are counted as this many. */
export const MAX_DISAGREEMENTS = 100;

/** Nothing compared. */
export const NOTHING_COMPARED: Comparison = { recovered: 0, updated: 0, agreed: 0, disagreements: [] };

/** What came of one order. */
export type Finding = "recovered" | "updated" | "agreed" | Disagreement;

/** The comparison with one more finding. */
export function counted(comparison: Comparison, finding: Finding): Comparison {
  if (typeof finding === "string") return { ...comparison, [finding]: comparison[finding] + 1 };
  return {
    ...comparison,
    disagreements: [...comparison.disagreements, finding].slice(0, MAX_DISAGREEMENTS),
  };
}
