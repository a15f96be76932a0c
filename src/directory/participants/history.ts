/**
 * Histories of participants, and of what people attempt: who did what, when and why. Entries are appended in the commit
 * of the change and never altered.
 */
import type { WallTime } from "../../base/kernel/clock.ts";
import { sha256 } from "../../base/kernel/identifiers.ts";

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
  /** The hash of the entry before it ({@link historyLine}). Absent in the first. */
  readonly previousSha256?: string;
  /** Numbered 0, 1, 2 … without gaps. */
  readonly sequence: number;
  /** Milliseconds. */
  readonly at: WallTime;
  /** The person who made the request, or `<proposer> with <approver>`. */
  readonly who: string;
}

/** An entry of a history on the wire, with the hashes that chain it to the entry before it (contract DRC15). */
export type HistoryLine = Readonly<Record<string, unknown>> & {
  readonly sequence: number;
  readonly previous_sha256?: string;
  readonly sha256: string;
};

export async function historyLine(entry: HistoryEntry): Promise<HistoryLine> {
  const { sequence, at, who, proposalId, approvalReason, what, reason, details, previousSha256 } = entry;
  const line = {
    sequence,
    at: new Date(at).toISOString(),
    who,
    ...(proposalId === undefined ? {} : { proposal_id: proposalId }),
    ...(approvalReason === undefined ? {} : { approval_reason: approvalReason }),
    what,
    ...(reason === undefined ? {} : { reason }),
    details,
    ...(previousSha256 === undefined ? {} : { previous_sha256: previousSha256 }),
  };
  return { ...line, sha256: await sha256(canonicalJson(line)) };
}

/** The canonical form of RFC 8785, for values without fractions. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_name, member: unknown) =>
      member === null || typeof member !== "object" || Array.isArray(member)
        ? member
        : Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => a < b ? -1 : 1)),
  );
}
