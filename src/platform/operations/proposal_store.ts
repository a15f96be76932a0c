/** Stores changes that an operator has proposed and another one approves. */
import type { WallTime } from "../../base/kernel/clock.ts";
import { z } from "zod";
import { defineRecord, optional } from "../../base/store/record.ts";
import { count, flag, instant, text } from "../../base/store/record_fields.ts";
import {
  defineOpenProposals,
  type OpenProposals,
  PROPOSAL_KEPT_MS,
  readOpenProposals,
  stageOpenProposals,
} from "../../base/store/open_proposals.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, type Transaction } from "../../base/store/transaction.ts";
import type { ProposedChange } from "../guards/security/four_eyes.ts";
import { OPEN_PROPOSALS_KEY, proposalKey } from "../config/store_keys.ts";

/**
 * - `proposed`: waits for a second operator.
 * - `approved`: is being carried out, or a process ended before it was. It can be approved again or withdrawn.
 * - `done`, `failed`, `withdrawn`: over.
 */
export type ProposalState = "proposed" | "approved" | "done" | "failed" | "withdrawn";

/** Whether a proposal of this state can be approved until it expires. */
export function isOpen(state: ProposalState): boolean {
  return state === "proposed" || state === "approved";
}

export interface Proposal extends ProposedChange {
  readonly id: string;
  readonly state: ProposalState;
  /** Milliseconds. */
  readonly proposedAt: WallTime;
  /** Milliseconds. It cannot be approved any more. */
  readonly expiresAt: WallTime;
  /** `operator <name>`: who approved it or withdrew it. */
  readonly decidedBy?: string;
  readonly decidedAt?: WallTime;
  /** Whether it was approved again, after an approval whose result is not recorded: that one may have made the change. */
  readonly isRepeated?: boolean;
  /** The status of the answer to the change. */
  readonly status?: number;
  /** Why the change was rejected. */
  readonly fault?: string;
}

export const proposalRecord = defineRecord<Proposal>({
  name: "proposal",
  keyParts: ["proposal id"],
  what: "A change that one operator has proposed, and what another one has decided.",
  schema: z.looseObject({
    id: text,
    endpoint: text,
    path: text,
    contentType: z.enum(["application/json", "text/plain"]),
    body: text,
    reason: text,
    operator: text,
    person: optional(text),
    state: z.enum(["proposed", "approved", "done", "failed", "withdrawn"]),
    proposedAt: instant,
    expiresAt: instant,
    decidedBy: optional(text),
    decidedAt: optional(instant),
    isRepeated: optional(flag),
    status: optional(count),
    fault: optional(text),
  }),
  version: 1,
  lifetime: "30 days. The histories keep who proposed and approved what.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

export const openProposalsRecord = defineOpenProposals("open_proposals");

export interface ProposalStore {
  find(from: Reader, id: string): Promise<Entry<Proposal> | null>;
  /** @param now milliseconds */
  open(from: Reader, now: WallTime): Promise<OpenProposals>;
  /** Returns those that can be approved at `now` (milliseconds), and at most {@link MAX_LISTED} others, newest first. */
  all(now: WallTime): Promise<readonly Proposal[]>;
  /** Stages a proposal, or its change. Of parallel changes of all proposals only one commits. */
  stage(tx: Transaction, former: Entry<Proposal> | null, proposal: Proposal, open: OpenProposals): void;
}

const MAX_LISTED = 500;

export function openProposalStore(store: Store): ProposalStore {
  const open: ProposalStore["open"] = (from, now) =>
    readOpenProposals(from, openProposalsRecord, OPEN_PROPOSALS_KEY, now);
  return {
    find: (from, id) => proposalRecord.get(from, proposalKey(id)),
    open,
    async all(now) {
      // the keys of the listing are random: ended proposals must not hide the open ones
      const keys = (await open(store, now)).open.map(({ id }) => proposalKey(id));
      const found = await store.getMany<unknown>(keys);
      const listed = await store.list({ prefix: [proposalRecord.name], limit: MAX_LISTED });
      const entries = [...found.filter((entry) => entry !== null), ...listed];
      const all = entries.map((entry) => proposalRecord.decode(entry).value);
      return [...new Map(all.map((one) => [one.id, one])).values()]
        .toSorted((one, other) => other.proposedAt - one.proposedAt);
    },
    stage(tx, former, proposal, open) {
      const list = { record: openProposalsRecord, key: OPEN_PROPOSALS_KEY };
      stageOpenProposals(tx, list, open, { ...proposal, isOpen: isOpen(proposal.state) });
      check(tx, proposalKey(proposal.id), former?.version ?? null);
      proposalRecord.set(tx, proposalKey(proposal.id), proposal, proposal.proposedAt + PROPOSAL_KEPT_MS);
    },
  };
}
