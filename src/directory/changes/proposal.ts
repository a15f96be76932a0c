/** A change that an administrator has proposed and another one approves or rejects (contract DRC8 to DRC11). */
import type { WallTime } from "../../base/kernel/clock.ts";
import { sha256 } from "../../base/kernel/identifiers.ts";
import { z } from "zod";
import { defineProposals, PROPOSAL_MS, type Proposed, proposedMembers } from "../../base/store/proposals.ts";
import type { Key } from "../../base/store/store.ts";
import { optional, text } from "../../base/store/record.ts";
import { PROPOSABLE, type Proposable } from "./four_eyes.ts";
import { asOrgId, type OrgId } from "../participants/identifiers.ts";
import type { Participant } from "../participants/participant.ts";

export const PROPOSAL_STATES = ["proposed", "approved", "rejected", "withdrawn"] as const;
/** `withdrawn`: rejected by the administrator who has proposed it. */
export type ProposalState = typeof PROPOSAL_STATES[number];

/** A change as one administrator has sent it. */
export interface ProposedChange extends Pick<Proposed, "who" | "person"> {
  readonly change: Proposable;
  /** The parameters of its path. */
  readonly orgId?: OrgId;
  readonly kid?: string;
  /** As parsed. The endpoint has decoded it. */
  readonly body: unknown;
}

export interface Proposal extends Proposed, ProposedChange {
  readonly state: ProposalState;
  /** {@link stateHash} of the participant. Absent for an onboarding. */
  readonly participantSha256?: string;
  readonly person?: string;
  /** Why it was approved, rejected or withdrawn. */
  readonly reason?: string;
}

/** The proposals that can be approved now. Written with every change of a proposal. */
export const OPEN_PROPOSALS: Key = ["directory", "open_proposals"];

export const proposals = defineProposals<Proposal>({
  names: ["directory proposal", "directory open_proposals"],
  keys: [["directory", "proposal"], OPEN_PROPOSALS],
  what: "A change that one administrator has proposed, and what another one has decided.",
  lifetime: "30 days. The history keeps who proposed and approved what.",
  schema: z.looseObject({
    ...proposedMembers,
    change: z.enum(PROPOSABLE),
    orgId: optional(z.custom<OrgId>((value) => asOrgId(value) !== undefined)),
    kid: optional(text),
    body: z.unknown(),
    state: z.enum(PROPOSAL_STATES),
    participantSha256: optional(text),
    reason: optional(text),
  }),
  isOpen: (state) => state === "proposed",
  conflict: "directory.conflict",
});

const PROPOSAL_ID = /^[0-9a-f]{28}$/;
/** Milliseconds of the last time that has 12 hexadecimal digits. */
const END_OF_TIME = 2 ** 48 - 1;

/** Returns whether the value has the form of a proposal's id. */
export function isProposalId(value: string): boolean {
  return PROPOSAL_ID.test(value);
}

/** Creates a proposal. Ids of newer proposals come first in the order of keys, so that a page lists the newest. */
export function newProposal(change: ProposedChange, hash: string | undefined, now: WallTime): Proposal {
  const time = (END_OF_TIME - now).toString(16).padStart(12, "0");
  return {
    ...change,
    id: time + crypto.getRandomValues(new Uint8Array(8)).toHex(),
    state: "proposed",
    ...(hash === undefined ? {} : { participantSha256: hash }),
    proposedAt: now,
    expiresAt: now + PROPOSAL_MS,
  };
}

/**
 * Hash of what administrators decide on: registered data, details of the software, statuses. Keys, reports, logins and
 * the time of the statement do not count, so that a participant's people cannot end a proposal about it.
 */
export async function stateHash({ software, ...participant }: Participant): Promise<string> {
  const {
    historyLength: _length,
    historySha256: _newest,
    certifications: _reports,
    logins: _logins,
    ...registered
  } = participant;
  const { statementIat: _issued, ...details } = software;
  return await sha256(JSON.stringify([registered, details]));
}
