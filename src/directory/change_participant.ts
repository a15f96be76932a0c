/**
 * The only way to change a participant: read, decide, and commit against the version that was read, with the history
 * entries in the same commit. A change that loses a race is decided again on the new state.
 */
import { ApiError } from "../base/kernel/api_error.ts";
import { transact } from "../base/store/transaction.ts";
import type { CertifiedKey } from "./certified_key.ts";
import type { Directory } from "./directory.ts";
import type { HistoryNote } from "./history.ts";
import type { OrgId } from "./identifiers.ts";
import type { Participant } from "./participant.ts";
import {
  type ChangedReports,
  findParticipant,
  stageKey,
  stageNewKey,
  stageParticipant,
  stageReport,
} from "./participant_store.ts";

/** The participant to change and the administrator who asks for it. */
export interface Target {
  readonly orgId: OrgId;
  /** The administrator, for the history. */
  readonly who: string;
}

/** The result of a decision. Without notes there is no change and no write. */
export interface Change<T> {
  readonly participant: Participant;
  readonly notes: readonly HistoryNote[];
  /** Keys never certified before. */
  readonly newKeys?: readonly CertifiedKey[];
  /** An existing key that changes. */
  readonly changedKey?: CertifiedKey;
  /** Certification reports that come and go. */
  readonly changedReports?: ChangedReports;
  readonly answer: T;
}

/**
 * One change wins every race, so up to this many concurrent changes all succeed. Revocations may come together in an
 * incident.
 */
const ATTEMPTS = 50;

/**
 * Applies a decision to the participant in one atomic commit.
 *
 * @throws {ApiError} `directory.not_found`, the decision's own error, or `directory.conflict` after losing every race
 */
export async function changeParticipant<T>(
  directory: Directory,
  target: Target,
  decide: (participant: Participant, now: number) => Promise<Change<T>>,
): Promise<T> {
  const options = { what: "participant", attempts: ATTEMPTS, lost: rejectContended };
  return await transact(directory, options, async (tx) => {
    const entry = await findParticipant(tx, target.orgId);
    if (entry === null) throw new ApiError("directory.not_found", "no such participant");
    const now = directory.clock();
    const change = await decide(entry.value, now);
    if (change.notes.length === 0) return change.answer;
    stageParticipant(tx, change.participant, entry.version, {
      notes: change.notes,
      at: now,
      who: target.who,
    });
    for (const key of change.newKeys ?? []) stageNewKey(tx, target.orgId, key);
    if (change.changedKey !== undefined) stageKey(tx, target.orgId, change.changedKey);
    if (change.changedReports !== undefined) stageReport(tx, target.orgId, change.changedReports);
    return change.answer;
  });
}

function rejectContended(): never {
  throw new ApiError("directory.conflict", {
    description: "The participant is being changed by others; try again.",
  });
}
