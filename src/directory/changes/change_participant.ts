/**
 * The only way to change a participant: read, decide, and commit against the version that was read, with the history
 * entries in the same commit. A change that loses a race is decided again on the new state.
 */
import { ApiError } from "../../base/kernel/api_error.ts";
import { transact } from "../../base/store/transaction.ts";
import type { CertifiedKey } from "../participants/certified_key.ts";
import type { Directory } from "./directory.ts";
import type { HistoryHead } from "../participants/history_store.ts";
import type { HistoryNote } from "../participants/history.ts";
import type { OrgId } from "../participants/identifiers.ts";
import { isTrusted, type Participant } from "../participants/participant.ts";
import type { Approval } from "./proposals.ts";
import {
  type ChangedReports,
  findParticipant,
  stageKey,
  stageNewKey,
  stageParticipant,
  stageReport,
} from "../participants/participant_store.ts";
import { conflict } from "../participants/rejections.ts";

/** The participant to change and the person who asks for it. */
export interface Target {
  readonly orgId: OrgId;
  /** The person, for the history. */
  readonly who: string;
  /** Whether the person is one of the participant's, not an administrator. */
  readonly isOwn?: boolean;
  /** Of a change that needed two administrators. */
  readonly approval?: Approval | undefined;
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
  let head: HistoryHead | undefined;
  const answer = await transact(directory, options, async (tx) => {
    head = undefined;
    const entry = await findParticipant(tx, target.orgId);
    if (entry === null) throw new ApiError("directory.not_found", "no such participant");
    const now = directory.clock();
    await target.approval?.stage(tx, entry.value);
    const change = await decide(entry.value, now);
    if (change.notes.length === 0) return leaveUnchanged(target, change.answer);
    head = await stageParticipant(tx, change.participant, entry.version, {
      notes: change.notes,
      at: now,
      who: target.who,
      approval: target.approval?.note,
    });
    for (const key of change.newKeys ?? []) stageNewKey(tx, target.orgId, key);
    if (change.changedKey !== undefined) stageKey(tx, target.orgId, change.changedKey);
    if (change.changedReports !== undefined) stageReport(tx, target.orgId, change.changedReports);
    return change.answer;
  });
  if (head !== undefined) directory.witness(target.orgId, head);
  return answer;
}

/** A change without effect writes nothing, and an approval of it is none. */
function leaveUnchanged<T>({ approval }: Target, answer: T): T {
  if (approval === undefined) return answer;
  throw conflict("The change has no effect any more. Reject the proposal.");
}

/**
 * Rejects a change that a participant's own people may make only while its keys may be trusted (contract DRC5). Called
 * in the decision, so that a suspension at the same time is not missed.
 *
 * @throws {ApiError} `directory.conflict`
 */
export function requireTrusted({ isOwn = false }: Target, participant: Participant): void {
  if (!isOwn || isTrusted(participant)) return;
  throw conflict("The participant and its software must be Active. Ask an administrator of the directory.");
}

function rejectContended(): never {
  throw conflict("The participant is being changed by others; try again.");
}
