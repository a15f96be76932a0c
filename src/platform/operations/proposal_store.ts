/** Stores changes that an operator has proposed and another one approves. */
import { z } from "zod";
import { defineRecord, optional } from "../../base/store/record.ts";
import { count, instant, text } from "../../base/store/record_fields.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, type Transaction } from "../../base/store/transaction.ts";
import type { ProposedChange } from "../security/four_eyes.ts";
import { proposalKey } from "../store_keys.ts";

/**
 * - `proposed`: waits for a second operator.
 * - `approved`: is being carried out, or a process ended before it was. It can be approved again.
 * - `done`, `failed`, `withdrawn`: over.
 */
export type ProposalState = "proposed" | "approved" | "done" | "failed" | "withdrawn";

export interface Proposal extends ProposedChange {
  readonly id: string;
  readonly state: ProposalState;
  /** Milliseconds. */
  readonly proposedAt: number;
  /** Milliseconds. It cannot be approved any more. */
  readonly expiresAt: number;
  /** `operator <name>`: who approved it or withdrew it. */
  readonly decidedBy?: string;
  readonly decidedAt?: number;
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
    state: z.enum(["proposed", "approved", "done", "failed", "withdrawn"]),
    proposedAt: instant,
    expiresAt: instant,
    decidedBy: optional(text),
    decidedAt: optional(instant),
    status: optional(count),
    fault: optional(text),
  }),
  version: 1,
  lifetime: "30 days. The histories keep who proposed and approved what.",
  personalData: "participant",
  retention: "protocol",
});

export interface ProposalStore {
  find(from: Reader, id: string): Promise<Entry<Proposal> | null>;
  /** Returns those that are stored, newest first. */
  all(): Promise<readonly Proposal[]>;
  /** Stages a proposal, or its change. Of parallel changes only one commits. */
  stage(tx: Transaction, former: Entry<Proposal> | null, proposal: Proposal): void;
}

export const MAX_PROPOSALS = 500;
const KEPT_MS = 30 * 86_400_000;

export function openProposalStore(store: Store): ProposalStore {
  return {
    find: (from, id) => proposalRecord.get(from, proposalKey(id)),
    async all() {
      const entries = await store.list({ prefix: [proposalRecord.name], limit: MAX_PROPOSALS });
      return entries.map((entry) => proposalRecord.decode(entry).value)
        .toSorted((one, other) => other.proposedAt - one.proposedAt);
    },
    stage(tx, former, proposal) {
      check(tx, proposalKey(proposal.id), former?.version ?? null);
      proposalRecord.set(tx, proposalKey(proposal.id), proposal, proposal.proposedAt + KEPT_MS);
    },
  };
}
