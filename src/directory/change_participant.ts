/**
 * The one way a participant changes: read, decide, commit over the version that was read, with the history in the
 * same commit. Whoever loses a race decides again on what is there now.
 */
import { ApiError } from "../base/kernel/api_error.ts";
import { begin, commit } from "../base/store/transaction.ts";
import type { CertifiedKey } from "./certified_key.ts";
import type { Directory } from "./directory.ts";
import type { HistoryNote } from "./history.ts";
import type { OrgId } from "./identifiers.ts";
import type { Participant } from "./participant.ts";
import { findParticipant, stageKey, stageNewKey, stageParticipant } from "./participant_store.ts";

/** Whom to change, and who asks for it. */
export interface Target {
  readonly orgId: OrgId;
  /** The administrator, for the history. */
  readonly who: string;
}

/** What a decision comes to. Without notes nothing happened and nothing is written. */
export interface Change<T> {
  readonly participant: Participant;
  readonly notes: readonly HistoryNote[];
  /** Keys never certified before. */
  readonly newKeys?: readonly CertifiedKey[];
  /** A key that is there and changes. */
  readonly changedKey?: CertifiedKey;
  readonly answer: T;
}

/** Somebody wins every race: this many changes at once are all made. An incident's revocations may come together. */
const ATTEMPTS = 50;

/**
 * Applies a decision to the participant in one atomic commit.
 *
 * @throws {ApiError} `directory.not_found`, what the decision throws, or `directory.conflict` after losing every race
 */
export async function changeParticipant<T>(
  directory: Directory,
  target: Target,
  decide: (participant: Participant, now: number) => Promise<Change<T>>,
): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const entry = await findParticipant(directory.store, target.orgId);
    if (entry === null) throw new ApiError("directory.not_found", "no such participant");
    const now = directory.clock();
    const change = await decide(entry.value, now);
    if (change.notes.length === 0) return change.answer;
    const tx = begin();
    stageParticipant(tx, change.participant, entry.version, {
      notes: change.notes,
      at: now,
      who: target.who,
    });
    for (const key of change.newKeys ?? []) stageNewKey(tx, target.orgId, key);
    if (change.changedKey !== undefined) stageKey(tx, target.orgId, change.changedKey);
    if (await commit(directory.store, directory.clock, tx)) return change.answer;
  }
  throw new ApiError("directory.conflict", {
    description: "The participant is being changed by others; try again.",
  });
}
