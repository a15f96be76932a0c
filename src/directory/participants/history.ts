/**
 * Histories of participants, and of what people attempt: who did what, when and why. Entries are appended in the commit
 * of the change and never altered.
 */
import type { WallTime } from "../../base/kernel/clock.ts";

/** The kinds of history entries. */
export const HAPPENINGS = [
  "participant.onboarded",
  "statement.issued",
  "certificates.issued",
  "key.revoked",
  "software.status",
  "organisation.status",
  "certification.reported",
  "login.issued",
  "login.revoked",
  "person.signed_in",
  "person.forbidden",
  "proposal.refused",
] as const;
export type Happening = typeof HAPPENINGS[number];

/** A history entry before it has a number and a time. */
export interface HistoryNote {
  readonly what: Happening;
  readonly reason?: string;
  /** Of a proposal that was refused. */
  readonly proposalId?: string;
  /** Plain JSON: kids, statuses before and after, changed members. No contact data. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Of a change that two administrators have made. */
export interface ApprovalNote {
  readonly proposalId: string;
  /** Why the second one has approved it. */
  readonly approvalReason: string;
}

/** A history entry as stored. */
export interface HistoryEntry extends HistoryNote, Partial<ApprovalNote> {
  /** The hash of the entry before it (`history_representation.ts`). Absent in the first. */
  readonly previousSha256?: string;
  /** Numbered 0, 1, 2 … without gaps. */
  readonly sequence: number;
  /** Milliseconds. */
  readonly at: WallTime;
  /** The person who made the request, or `<proposer> with <approver>`. */
  readonly who: string;
}
