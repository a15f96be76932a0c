/**
 * Reads and stages histories: one for each participant, and one for what people attempt. Each entry has the hash of the
 * one before it, and the head of the history has the hash of the newest, so a history that was changed, cut or shortened
 * in the database is noticed when it is read (contract DRC15).
 */
import { z } from "zod";
import type { Key, Reader, Store } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { count, defineRecord, instant, optional, text } from "../../base/store/record.ts";
import {
  type ApprovalNote,
  HAPPENINGS,
  type HistoryEntry,
  type HistoryLine,
  historyLine,
  type HistoryNote,
} from "./history.ts";
import type { OrgId } from "./identifiers.ts";

/** No entry expires: a trust root must be able to prove what was done in its name. */
const KEPT = "Kept.";

/** Where a history ends. */
export interface HistoryHead {
  readonly length: number;
  /** The hash of the newest entry. Absent without one. */
  readonly sha256: string | undefined;
}

export const historyRecord = defineRecord<HistoryEntry>({
  name: "directory history",
  keyParts: ["org_id, lower case, or @people", "number"],
  what: "An entry in the append-only history of a participant, or of what people attempt.",
  schema: z.looseObject({
    what: z.enum(HAPPENINGS),
    reason: optional(text),
    details: z.record(text, z.unknown()),
    sequence: count,
    at: instant,
    who: text,
    previousSha256: optional(text),
    proposalId: optional(text),
    approvalReason: optional(text),
  }),
  version: 1,
  lifetime: KEPT,
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

export const peopleHeadRecord = defineRecord<HistoryHead>({
  name: "directory people_head",
  keyParts: [],
  what: "The length of the history of what people attempt, and the hash of its newest entry.",
  schema: z.looseObject({ length: count, sha256: text }),
  version: 1,
  lifetime: KEPT,
  personalData: "none",
  retention: "register",
  restore: "kept",
});

/** The history of what people attempt. No org_id has this form. */
export const PEOPLE = "@people";
/** Whose history: a participant's, or the one of what people attempt. */
export type HistorySubject = OrgId | typeof PEOPLE;

/** Length and newest hash of the history of what people attempt. A participant has those of its own. */
const PEOPLE_HEAD: Key = ["directory", "people_head"];
const historyPrefix = (subject: HistorySubject): Key => ["directory", "history", subject.toLowerCase()];
/** One entry, by its number: append-only. */
const historyKey = (subject: HistorySubject, sequence: number): Key => [
  ...historyPrefix(subject),
  String(sequence).padStart(10, "0"),
];

/** Why something has changed. */
export interface Happened {
  readonly notes: readonly HistoryNote[];
  /** Milliseconds. */
  readonly at: number;
  readonly who: string;
  /** Of a change that needed two administrators. */
  readonly approval?: ApprovalNote | undefined;
}

interface HistoryPage {
  /** Oldest first. */
  readonly lines: readonly HistoryLine[];
  /** Whether no entry of the page, and none behind it that the head counts, was changed, removed or added. */
  readonly isIntact: boolean;
}

/** Stages entries behind the head. The caller's commit checks the head's version. Returns the new head. */
export async function stageHistory(
  tx: Transaction,
  subject: HistorySubject,
  head: HistoryHead,
  { notes, at, who, approval }: Happened,
): Promise<HistoryHead> {
  let { length, sha256 } = head;
  for (const note of notes) {
    const previous = sha256 === undefined ? {} : { previousSha256: sha256 };
    const entry: HistoryEntry = { sequence: length, at, who, ...approval, ...note, ...previous };
    historyRecord.set(tx, historyKey(subject, length), entry);
    ({ sha256 } = await historyLine(entry));
    length++;
  }
  return { length, sha256 };
}

/** Stages entries of the history of what people attempt. */
export async function stageAttempt(tx: Transaction, happened: Happened): Promise<HistoryHead> {
  const found = await peopleHeadRecord.get(tx, PEOPLE_HEAD);
  const head = await stageHistory(tx, PEOPLE, found?.value ?? { length: 0, sha256: undefined }, happened);
  peopleHeadRecord.replace(tx, PEOPLE_HEAD, found, head);
  return head;
}

export async function peopleHead(from: Reader): Promise<HistoryHead> {
  return (await peopleHeadRecord.get(from, PEOPLE_HEAD))?.value ?? { length: 0, sha256: undefined };
}

/** Entries of a history, oldest first, behind the one with the number `after`. */
export async function listHistory(
  store: Store,
  subject: HistorySubject,
  after: number | undefined,
  limit: number,
): Promise<readonly HistoryEntry[]> {
  const start = after === undefined ? undefined : historyKey(subject, after);
  const entries = await historyRecord.list(store, { prefix: historyPrefix(subject), after: start, limit });
  return entries.map(({ value }) => value);
}

/**
 * Reads a page, and compares it with the hashes.
 *
 * @param head as it was read before: entries that are added meanwhile are behind it
 */
export async function readHistory(
  store: Store,
  subject: HistorySubject,
  head: HistoryHead,
  { after, limit }: { readonly after: number | undefined; readonly limit: number },
): Promise<HistoryPage> {
  const first = (after ?? -1) + 1;
  const before = first === 0 ? null : await historyRecord.get(store, historyKey(subject, first - 1));
  // One more than the page has: its hash of the entry before shows a change of the last one.
  const read = await Promise.all((await listHistory(store, subject, after, limit + 1)).map(historyLine));
  let previous = before === null ? undefined : (await historyLine(before.value)).sha256;
  let isIntact = first === 0 || before !== null || first > head.length;
  isIntact &&= first !== head.length || previous === head.sha256;
  for (const [index, { sequence, previous_sha256, sha256 }] of read.entries()) {
    isIntact &&= sequence === first + index && previous_sha256 === previous;
    isIntact &&= sequence !== head.length - 1 || sha256 === head.sha256;
    previous = sha256;
  }
  isIntact &&= read.length > limit || first + read.length >= head.length;
  return { lines: read.slice(0, limit), isIntact };
}
