/** Reads and stages proposed changes. */
import { z } from "zod";
import {
  defineOpenProposals,
  type OpenProposals,
  PROPOSAL_KEPT_MS,
  readOpenProposals,
  stageOpenProposals,
} from "../../base/store/open_proposals.ts";
import { defineRecord, optional } from "../../base/store/record.ts";
import { instant, text } from "../../base/store/record_fields.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, type Transaction } from "../../base/store/transaction.ts";
import { PROPOSABLE } from "./four_eyes.ts";
import { asOrgId, type OrgId } from "../participants/identifiers.ts";
import { OPEN_PROPOSALS, proposalKey, PROPOSALS } from "../participants/keys.ts";
import { type Proposal, PROPOSAL_STATES } from "./proposal.ts";

export const proposalRecord = defineRecord<Proposal>({
  name: "directory proposal",
  keyParts: ["proposal id"],
  what: "A change that one administrator has proposed, and what another one has decided.",
  schema: z.looseObject({
    id: text,
    change: z.enum(PROPOSABLE),
    orgId: optional(z.custom<OrgId>((value) => asOrgId(value) !== undefined)),
    kid: optional(text),
    body: z.unknown(),
    who: text,
    person: optional(text),
    state: z.enum(PROPOSAL_STATES),
    participantSha256: optional(text),
    proposedAt: instant,
    expiresAt: instant,
    decidedBy: optional(text),
    decidedAt: optional(instant),
    reason: optional(text),
  }),
  version: 1,
  lifetime: "30 days. The history keeps who proposed and approved what.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

export const openProposalsRecord = defineOpenProposals("directory open_proposals");

const LIST = { record: openProposalsRecord, key: OPEN_PROPOSALS };

export async function findProposal(from: Reader, id: string): Promise<Entry<Proposal> | null> {
  return await proposalRecord.get(from, proposalKey(id));
}

/** @param now milliseconds */
export async function openProposals(from: Reader, now: number): Promise<OpenProposals> {
  return await readOpenProposals(from, openProposalsRecord, OPEN_PROPOSALS, now);
}

/** Proposals, newest first, behind the one with the id `after`. */
export async function listProposals(
  store: Store,
  after: string | undefined,
  limit: number,
): Promise<readonly Proposal[]> {
  const from = after === undefined ? {} : { after: proposalKey(after) };
  const entries = await store.list({ prefix: PROPOSALS, ...from, limit });
  return entries.map((entry) => proposalRecord.decode(entry).value);
}

/** Stages a proposal, or its change, with the list of those that are open. */
export function stageProposal(
  tx: Transaction,
  former: Entry<Proposal> | null,
  proposal: Proposal,
  open: OpenProposals,
): void {
  const { id, who, expiresAt, state } = proposal;
  stageOpenProposals(tx, LIST, open, { id, operator: who, expiresAt, isOpen: state === "proposed" });
  check(tx, proposalKey(id), former?.version ?? null);
  proposalRecord.set(tx, proposalKey(id), proposal, proposal.proposedAt + PROPOSAL_KEPT_MS);
}
