/** An entry of a history on the wire, with the hashes that chain it to the entry before it (contract DRC15). */
import { sha256 } from "../../base/kernel/identifiers.ts";
import type { HistoryEntry } from "./history.ts";

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
