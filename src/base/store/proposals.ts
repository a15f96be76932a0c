/**
 * Changes that one person proposes and another one approves (contract FE1 to FE8 and DRC8 to DRC11). Each program
 * declares what its changes are and how an approved one is made. One record lists the proposals that can be approved
 * now, so that their number is bounded and of parallel changes of all proposals only one commits.
 */
import { z } from "zod";
import { ApiError } from "../kernel/api_error.ts";
import type { WallTime } from "../kernel/clock.ts";
import { defineRecord, instant, optional, type StoredRecord, text } from "./record.ts";
import type { Entry, Key, Reader, Store } from "./store.ts";
import { check, type Transaction } from "./transaction.ts";

/** A person who proposes or decides. */
export interface Proposer {
  /** As histories name the person. */
  readonly who: string;
  /** Who the person is at the OpenID provider, if that is known. */
  readonly person?: string | undefined;
}

/** What every proposal has. */
export interface Proposed extends Proposer {
  readonly id: string;
  readonly state: string;
  readonly person?: string;
  /** Milliseconds. */
  readonly proposedAt: WallTime;
  /** Milliseconds. It cannot be approved any more. */
  readonly expiresAt: WallTime;
  readonly decidedBy?: string;
  readonly decidedAt?: WallTime;
}

/** The members of {@link Proposed} except its state, for the schema of a program's record. */
export const proposedMembers = {
  id: text,
  who: text,
  person: optional(text),
  proposedAt: instant,
  expiresAt: instant,
  decidedBy: optional(text),
  decidedAt: optional(instant),
};

/** Time for the approval, milliseconds. */
export const PROPOSAL_MS = 24 * 3_600_000;
/** How long a proposal is kept after it was made, milliseconds. */
const KEPT_MS = 30 * 86_400_000;
/** Open proposals of one person. */
const MAX_OF_PERSON = 20;
/** Open proposals of all people. More than of one, so that one person cannot stop the proposals of others. */
const MAX_OPEN = 50;

type OpenProposal = Pick<Proposed, "id" | "who" | "expiresAt">;
type OpenList = { readonly open: readonly OpenProposal[] };

/** The proposals that can be approved at a time, and the entry that a change of them replaces. */
export interface OpenProposals {
  readonly former: Entry<OpenList> | null;
  readonly open: readonly OpenProposal[];
  /** Whether the proposal is among them: it has not expired, and no older copy of the database was restored since. */
  has(proposal: Pick<Proposed, "id">): boolean;
}

export interface Proposals<P extends Proposed> {
  readonly record: StoredRecord<P>;
  readonly openRecord: StoredRecord<OpenList>;
  find(from: Reader, id: string): Promise<Entry<P> | null>;
  /** Returns those with these ids. */
  findAll(from: Store, ids: readonly string[]): Promise<readonly P[]>;
  /** Returns proposals in the order of their ids, behind `after`. */
  list(from: Store, limit: number, after?: string): Promise<readonly P[]>;
  /** @param now milliseconds */
  readOpen(from: Reader, now: WallTime): Promise<OpenProposals>;
  /** Stages a new proposal. @throws {ApiError} the program's conflict if too many are open */
  stageNew(tx: Transaction, proposal: P): Promise<void>;
  /** Stages a change of a proposal. Of parallel changes of all proposals only one commits. */
  stageChange(tx: Transaction, former: Entry<P>, changed: P, open: OpenProposals): void;
  /** @throws {ApiError} the program's conflict unless these are two people (contract FE8) */
  requireOther(proposal: P, approver: Proposer): void;
}

export interface ProposalsOf<P extends Proposed> {
  /** Name and keys of the record, and of the list of those that can be approved. */
  readonly names: readonly [string, string];
  readonly keys: readonly [prefix: Key, list: Key];
  readonly what: string;
  readonly lifetime: string;
  readonly schema: z.ZodType<P>;
  /** Whether a proposal of this state can be approved until it expires. */
  readonly isOpen: (state: P["state"]) => boolean;
  readonly conflict: ConstructorParameters<typeof ApiError>[0];
}

/** Declares the proposals of a program. */
export function defineProposals<P extends Proposed>(of: ProposalsOf<P>): Proposals<P> {
  const { conflict, keys: [prefix] } = of;
  const [record, list] = [defineProposal(of), openListOf(of)];
  const keyOf = (id: string): Key => [...prefix, id];
  const stage = (tx: Transaction, former: Entry<P> | null, proposal: P, open: OpenProposals): void => {
    list.stage(tx, open, proposal);
    check(tx, keyOf(proposal.id), former?.version ?? null);
    record.set(tx, keyOf(proposal.id), proposal, proposal.proposedAt + KEPT_MS);
  };
  const rejectIf = (description: string | undefined): void => {
    if (description !== undefined) throw new ApiError(conflict, { description });
  };
  return {
    record,
    openRecord: list.record,
    find: (from, id) => record.get(from, keyOf(id)),
    findAll: async (from, ids) =>
      (await from.getMany(ids.map(keyOf))).flatMap((entry) =>
        entry === null ? [] : record.decode(entry).value
      ),
    list: async (from, limit, after) =>
      (await from.list({ prefix, limit, ...(after === undefined ? {} : { after: keyOf(after) }) }))
        .map((entry) => record.decode(entry).value),
    readOpen: list.read,
    async stageNew(tx, proposal) {
      const open = await list.read(tx, proposal.proposedAt);
      rejectIf(whyFull(open, proposal.who));
      stage(tx, null, proposal, open);
    },
    stageChange: stage,
    requireOther: (proposal, approver) => rejectIf(whyNotTwo(proposal, approver)),
  };
}

function defineProposal<P extends Proposed>(
  { names: [name], what, lifetime, schema }: ProposalsOf<P>,
): StoredRecord<P> {
  return defineRecord<P>({
    name,
    keyParts: ["proposal id"],
    what,
    schema,
    version: 1,
    lifetime,
    personalData: "participant",
    retention: "protocol",
    restore: "kept",
  });
}

interface StoredOpenList<P> {
  readonly record: StoredRecord<OpenList>;
  readonly read: (from: Reader, now: WallTime) => Promise<OpenProposals>;
  /** Stages the list with a proposal, or without it if that is over. */
  readonly stage: (tx: Transaction, list: OpenProposals, proposal: P) => void;
}

function openListOf<P extends Proposed>(
  { names: [, name], keys: [, key], isOpen }: ProposalsOf<P>,
): StoredOpenList<P> {
  const record = defineRecord<OpenList>({
    name,
    keyParts: [],
    what: "The proposals that can be approved, with the people who made them. It bounds their number.",
    schema: z.looseObject({ open: z.array(z.looseObject({ id: text, who: text, expiresAt: instant })) }),
    version: 1,
    lifetime: "Kept. Those that have expired are removed with the next change of a proposal.",
    personalData: "participant",
    retention: "protocol",
    restore: "deleted",
  });
  return {
    record,
    async read(from, now) {
      const former = await record.get(from, key);
      const open = (former?.value.open ?? []).filter(({ expiresAt }) => now < expiresAt);
      return { former, open, has: ({ id }) => open.some((one) => one.id === id) };
    },
    stage(tx, { former, open }, { id, who, expiresAt, state }) {
      const others = open.filter((one) => one.id !== id);
      check(tx, key, former?.version ?? null);
      record.set(tx, key, { open: isOpen(state) ? [...others, { id, who, expiresAt }] : others });
    },
  };
}

/** Returns why the person cannot make another proposal now, if so. */
function whyFull({ open }: OpenProposals, person: string): string | undefined {
  if (open.filter(({ who }) => who === person).length >= MAX_OF_PERSON) {
    return `You have ${MAX_OF_PERSON} open proposals. Withdraw one, or wait until one is decided.`;
  }
  return open.length >= MAX_OPEN
    ? `There are ${MAX_OPEN} open proposals. Wait until one is decided.`
    : undefined;
}

/**
 * Returns why the second one may not approve, or undefined for two people (contract FE3, DRC9). A token whose list
 * does not say who its person is at the provider may be of the same person as any account there.
 */
function whyNotTwo(proposer: Proposer, approver: Proposer): string | undefined {
  const [one, other] = [proposer.person, approver.person];
  if (proposer.who === approver.who || (one !== undefined && one === other)) {
    return "You have proposed it yourself: another person must approve it.";
  }
  if ((one === undefined) === (other === undefined)) return undefined;
  return "One of you has a token and one is known to the OpenID provider, so you may be one person: " +
    "give the token a person in its list.";
}
