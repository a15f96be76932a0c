/**
 * The proposals that a second person can approve now. One record lists them, so that their number is bounded and of
 * parallel changes of all proposals only one commits.
 */
import type { WallTime } from "../kernel/clock.ts";
import { z } from "zod";
import { defineRecord, type StoredRecord } from "./record.ts";
import { instant, text } from "./record_fields.ts";
import type { Entry, Key, Reader } from "./store.ts";
import { check, type Transaction } from "./transaction.ts";

/** Time for the approval, milliseconds. */
export const PROPOSAL_MS = 24 * 3_600_000;
/** How long a proposal is kept after it was made, milliseconds. */
export const PROPOSAL_KEPT_MS = 30 * 86_400_000;
/** Open proposals of one person. */
const MAX_OF_PERSON = 20;
/** Open proposals of all people. More than of one, so that one person cannot stop the proposals of others. */
const MAX_OPEN = 50;

export interface OpenProposal {
  readonly id: string;
  /** Who has proposed it. */
  readonly operator: string;
  /** Milliseconds. */
  readonly expiresAt: WallTime;
}

/** The list in the database. */
export type OpenProposalList = { readonly open: readonly OpenProposal[] };

/** The proposals that can be approved at a time, and the entry that a change of them replaces. */
export interface OpenProposals {
  readonly former: Entry<unknown> | null;
  readonly open: readonly OpenProposal[];
}

/** Declares the list of a program. */
export function defineOpenProposals(name: string): StoredRecord<OpenProposalList> {
  return defineRecord<OpenProposalList>({
    name,
    keyParts: [],
    what: "The proposals that can be approved, with the people who made them. It bounds their number.",
    schema: z.looseObject({
      open: z.array(z.looseObject({ id: text, operator: text, expiresAt: instant })),
    }),
    version: 1,
    lifetime: "Kept. Those that have expired are removed with the next change of a proposal.",
    personalData: "participant",
    retention: "protocol",
    restore: "deleted",
  });
}

/** @param now milliseconds */
export async function readOpenProposals(
  from: Reader,
  record: StoredRecord<OpenProposalList>,
  key: Key,
  now: WallTime,
): Promise<OpenProposals> {
  const former = await record.get(from, key);
  return { former, open: (former?.value.open ?? []).filter(({ expiresAt }) => now < expiresAt) };
}

/** Stages the list with a proposal, or without it if `isOpen` is false. */
export function stageOpenProposals(
  tx: Transaction,
  { record, key }: { readonly record: StoredRecord<OpenProposalList>; readonly key: Key },
  { former, open }: OpenProposals,
  { id, operator, expiresAt, isOpen }: OpenProposal & { readonly isOpen: boolean },
): void {
  const others = open.filter((one) => one.id !== id);
  check(tx, key, former?.version ?? null);
  record.set(tx, key, { open: isOpen ? [...others, { id, operator, expiresAt }] : others });
}

/** Returns why the person cannot make another proposal now, if so. */
export function proposalsFull({ open }: OpenProposals, person: string): string | undefined {
  if (open.filter(({ operator }) => operator === person).length >= MAX_OF_PERSON) {
    return `You have ${MAX_OF_PERSON} open proposals. Withdraw one, or wait until one is decided.`;
  }
  return open.length >= MAX_OPEN
    ? `There are ${MAX_OPEN} open proposals. Wait until one is decided.`
    : undefined;
}
