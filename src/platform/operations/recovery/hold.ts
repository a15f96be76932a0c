/**
 * A hold: after a restore, the orders of one bank are not delivered until the platform has compared them with the
 * bank's. No I/O.
 */
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { Recorded } from "../../evidence/audit_trail.ts";
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";

/** The mark of a copy of the store. The backup command writes it into every copy. */
export interface CopyMark {
  readonly id: string;
  /** Milliseconds. Later commits are not in the copy. */
  readonly takenAt: WallTime;
}

/** The time from one restore of the store to the next. */
export interface Epoch {
  readonly id: string;
  /** Milliseconds. */
  readonly startedAt: WallTime;
  readonly copy: CopyMark;
}

/** An order on which the platform and the bank disagree. */
export interface Disagreement {
  readonly paymentId: PaymentId;
  readonly why: string;
}

/** The findings of a comparison with the bank's statement so far. */
export interface Comparison {
  /** Orders that the store did not have. The payment was restored from the platform's own signed order. */
  readonly recovered: number;
  /** Orders whose status changed to that of the statement. */
  readonly updated: number;
  /** Orders with the same status on both sides. */
  readonly agreed: number;
  /** At most {@link MAX_DISAGREEMENTS}. While there is one, the orders stay held. */
  readonly disagreements: readonly Disagreement[];
}

/** Why and since when a bank's orders are held. */
export interface Hold extends Recorded {
  readonly bank: BankCode;
  readonly epoch: string;
  /** Milliseconds. An older statement may lack orders that the bank received before the restore. */
  readonly restoredAt: WallTime;
  /** Milliseconds. A statement must begin at this time or earlier. */
  readonly since: WallTime;
  /** Start of the next page of the bank's statement. Absent if no comparison is under way. */
  readonly after?: string;
  /** The comparison under way, or the last one. */
  readonly comparison: Comparison;
}

/** What a bank is asked for, and its statement is compared with. */
export type Inquiry = Pick<Hold, "bank" | "since" | "after" | "restoredAt">;

/** Limit of recorded disagreements. More are not recorded. */
export const MAX_DISAGREEMENTS = 100;

export const NOTHING_COMPARED: Comparison = { recovered: 0, updated: 0, agreed: 0, disagreements: [] };

/** The result of comparing one order. */
export type Finding = "recovered" | "updated" | "agreed" | Disagreement;

/** Returns the comparison with one more finding. */
export function countFinding(comparison: Comparison, finding: Finding): Comparison {
  if (typeof finding === "string") return { ...comparison, [finding]: comparison[finding] + 1 };
  return { ...comparison, disagreements: [...comparison.disagreements, finding].slice(0, MAX_DISAGREEMENTS) };
}
