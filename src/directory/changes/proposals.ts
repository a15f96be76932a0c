/**
 * Proposes, approves and rejects changes that need two administrators (contract DRC8 to DRC11). An approval is staged in
 * the commit of its change.
 */
import { ApiError } from "../../base/kernel/api_error.ts";
import type { OpenProposals } from "../../base/store/proposals.ts";
import type { Entry, Reader } from "../../base/store/store.ts";
import { transact, type Transaction } from "../../base/store/transaction.ts";
import type { Directory } from "./directory.ts";
import type { ApprovalNote } from "../participants/history.ts";
import type { Participant } from "../participants/participant.ts";
import { findKey, findParticipant } from "../participants/participant_store.ts";
import {
  isProposalId,
  newProposal,
  type Proposal,
  proposals,
  type ProposedChange,
  stateHash,
} from "./proposal.ts";
import { conflict } from "../participants/rejections.ts";

/** An approval that becomes effective with the change: both are one commit. */
export interface Approval {
  readonly note: ApprovalNote;
  /**
   * Stages the approval beside the change of the participant that was read.
   *
   * @throws {ApiError} `directory.conflict` if the proposal cannot be approved, or the participant is not as proposed
   */
  stage(tx: Transaction, participant: Participant | undefined): Promise<void>;
}

/** Who decides, and why. */
export interface Decision {
  readonly who: string;
  /** Who it is at the OpenID provider, if that is known. */
  readonly person?: string | undefined;
  readonly reason: string;
}

/** The state as shown: `stale` if the participant is not as proposed any more. */
export type ShownState = Proposal["state"] | "expired" | "stale";

/** As many characters as JSON, so that a proposal fits into a value of the database. */
const MAX_BODY = 40_000;

/**
 * Stores a change in place of making it.
 *
 * @throws {ApiError} `directory.not_found` for an unknown participant or key, `directory.conflict` if too many proposals
 * are open, `directory.invalid_request` for a body that is too large
 */
export async function propose(directory: Directory, change: ProposedChange): Promise<Proposal> {
  if (JSON.stringify(change.body).length > MAX_BODY) {
    throw new ApiError("directory.invalid_request", {
      description: `body: a change that needs two administrators has at most ${MAX_BODY} characters`,
    });
  }
  return await transact(directory, { what: "proposal" }, async (tx) => {
    const proposal = newProposal(change, await hashOf(tx, change), directory.clock());
    await proposals.stageNew(tx, proposal);
    return proposal;
  });
}

async function hashOf(from: Reader, { orgId, kid }: ProposedChange): Promise<string | undefined> {
  if (orgId === undefined) return undefined;
  const entry = await findParticipant(from, orgId);
  if (entry === null) throw new ApiError("directory.not_found", "no such participant");
  if (kid !== undefined && await findKey(from, orgId, kid) === null) {
    throw new ApiError("directory.not_found", "no such key");
  }
  return await stateHash(entry.value);
}

/** @throws {ApiError} `directory.not_found` */
export async function findExisting(from: Reader, id: string): Promise<Entry<Proposal>> {
  const found = isProposalId(id) ? await proposals.find(from, id) : null;
  if (found === null) throw new ApiError("directory.not_found", "no such proposal");
  return found;
}

/** The approval of a proposal, which becomes effective with its change. */
export function approvalOf(directory: Directory, id: string, by: Decision): Approval {
  return {
    note: { proposalId: id, approvalReason: by.reason },
    async stage(tx, participant) {
      const former = await findOfAnother(tx, id, by);
      await stageDecision(directory, tx, former, "approved", by);
      if (participant === undefined) return;
      if (await stateHash(participant) !== former.value.participantSha256) {
        throw conflict(
          "The participant has changed since the proposal. Reject it, and propose the change again.",
        );
      }
    },
  };
}

/**
 * Returns a proposal that the administrator may approve now.
 *
 * @throws {ApiError} `directory.not_found`, `directory.conflict`
 */
export async function requireApprovable(
  directory: Directory,
  from: Reader,
  id: string,
  by: Decision,
): Promise<Entry<Proposal>> {
  const found = await findOfAnother(from, id, by);
  await requireOpen(directory, from, found.value);
  return found;
}

async function findOfAnother(from: Reader, id: string, by: Decision): Promise<Entry<Proposal>> {
  const found = await findExisting(from, id);
  proposals.requireOther(found.value, by);
  return found;
}

async function requireOpen(
  { clock, restored }: Directory,
  from: Reader,
  proposal: Proposal,
): Promise<OpenProposals> {
  const open = await proposals.readOpen(from, clock());
  const state = stateAt(proposal, open, await restored.takenAt());
  if (state !== "proposed") throw conflict(state === "expired" ? "It has expired." : `It is ${state}.`);
  return open;
}

/** Rejects a proposal, or withdraws an own one. @throws {ApiError} `directory.not_found`, `directory.conflict` */
export async function rejectProposal(directory: Directory, id: string, by: Decision): Promise<Proposal> {
  return await transact(directory, { what: "proposal" }, async (tx) => {
    const former = await findExisting(tx, id);
    const state = former.value.who === by.who ? "withdrawn" : "rejected";
    return await stageDecision(directory, tx, former, state, by);
  });
}

async function stageDecision(
  directory: Directory,
  tx: Transaction,
  former: Entry<Proposal>,
  state: "approved" | "rejected" | "withdrawn",
  { who, reason }: Decision,
): Promise<Proposal> {
  const open = await requireOpen(directory, tx, former.value);
  const decided: Proposal = { ...former.value, state, decidedBy: who, decidedAt: directory.clock(), reason };
  proposals.stageChange(tx, former, decided, open);
  return decided;
}

/**
 * The state, if the participant is as proposed. A proposal that is not in the list of open ones has expired, or the
 * directory was restored since.
 */
function stateAt(
  proposal: Proposal,
  open: OpenProposals,
  restoredAt: number | undefined,
): Proposal["state"] | "expired" {
  const { state, proposedAt } = proposal;
  if (state !== "proposed") return state;
  return open.has(proposal) && (restoredAt === undefined || proposedAt > restoredAt) ? state : "expired";
}

/** The states of proposals, in their order. */
export async function shownStates(
  { store, clock, restored }: Directory,
  shown: readonly Proposal[],
): Promise<readonly ShownState[]> {
  const open = await proposals.readOpen(store, clock());
  const restoredAt = await restored.takenAt();
  return await Promise.all(shown.map(async (one) => {
    const state = stateAt(one, open, restoredAt);
    if (state !== "proposed" || one.orgId === undefined) return state;
    const entry = await findParticipant(store, one.orgId);
    const isSame = entry !== null && await stateHash(entry.value) === one.participantSha256;
    return isSame ? state : "stale";
  }));
}
