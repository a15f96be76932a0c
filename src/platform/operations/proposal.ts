/** A change that an operator has proposed and another one approves (contract FE1 to FE4). */
import { z } from "zod";
import { defineProposals, type Proposed, proposedMembers } from "../../base/store/proposals.ts";
import { count, flag, optional, text } from "../../base/store/record.ts";
import { OPEN_PROPOSALS_KEY, PROPOSALS } from "../config/store_keys.ts";
import type { ProposedChange } from "../guards/security/four_eyes.ts";

/**
 * - `proposed`: waits for a second operator.
 * - `approved`: is being carried out, or a process ended before it was. It can be approved again or withdrawn.
 * - `done`, `failed`, `withdrawn`: over.
 */
const PROPOSAL_STATES = ["proposed", "approved", "done", "failed", "withdrawn"] as const;
export type ProposalState = typeof PROPOSAL_STATES[number];

/** Whether a proposal of this state can be approved until it expires. */
export function isOpen(state: ProposalState): boolean {
  return state === "proposed" || state === "approved";
}

export interface Proposal extends Proposed, ProposedChange {
  readonly state: ProposalState;
  readonly person?: string;
  /** Whether it was approved again, after an approval whose result is not recorded: that one may have made the change. */
  readonly isRepeated?: boolean;
  /** The status of the answer to the change. */
  readonly status?: number;
  /** Why the change was rejected. */
  readonly fault?: string;
}

export const proposals = defineProposals<Proposal>({
  names: ["proposal", "open_proposals"],
  keys: [PROPOSALS, OPEN_PROPOSALS_KEY],
  what: "A change that one operator has proposed, and what another one has decided.",
  lifetime: "30 days. The histories keep who proposed and approved what.",
  schema: z.looseObject({
    ...proposedMembers,
    endpoint: text,
    path: text,
    contentType: z.enum(["application/json", "text/plain"]),
    body: text,
    reason: text,
    state: z.enum(PROPOSAL_STATES),
    isRepeated: optional(flag),
    status: optional(count),
    fault: optional(text),
  }),
  isOpen,
  conflict: "operations.conflict",
});
