/**
 * The append-only history of consents, payments, clients and holds: each change with its actor, time, reason and
 * evidence. An entry, its evidence and its leaf of the log are staged in the commit of the change, so none exists
 * without the others. The order of a history depends on no clock (Decision M2).
 */
import type { WallTime } from "../../base/kernel/clock.ts";
import { z } from "zod";
import { count, defineRecord, instant, optional, text, texts } from "../../base/store/record.ts";
import { base64url } from "../../base/kernel/identifiers.ts";
import { auditKey, newestFirstPart } from "../config/store_keys.ts";
import type { Entry, Key, Store } from "../../base/store/store.ts";
import { causeOf, type Transaction } from "../../base/store/transaction.ts";
import { hashText } from "../../base/merkle/tree.ts";
import {
  type AuditEntry,
  bodyDigest,
  type Evidence,
  type EvidenceItem,
  leafHash,
  newSalt,
  usualPlace,
} from "./evidence.ts";
import { stageBody, stageBodyGone, stageDocument } from "./evidence_store.ts";
import type { Row } from "../../base/store/page.ts";
import { stageLeaf } from "./evidence_log/log_store.ts";

/** An event as the caller of {@link record} knows it. */
export interface AuditEvent
  extends Omit<AuditEntry, "sequence" | "previous" | "interactionId" | "salt" | "items"> {
  /** The evidence of this step, at most one piece of a kind. The pieces in `deleted` are deleted. */
  readonly evidence?: readonly Evidence[];
}

const item = z.looseObject({ kind: text, sha256: text, place: optional(text), key: optional(text) });
const authentication = z.looseObject({
  clientId: text,
  certificate: text,
  method: text,
  target: text,
  assertion: optional(z.looseObject({ kid: text, jtiHash: text })),
  token: optional(text),
  proof: optional(text),
});

export const auditRecord = defineRecord<AuditEntry>({
  name: "audit",
  keyParts: ["resource id", "position (ms)", "random id"],
  what: "An entry in the append-only history of a consent, payment, client or hold.",
  schema: z.looseObject({
    at: instant,
    event: text,
    actor: text,
    reason: optional(text),
    page: optional(z.looseObject({ language: text, sha256: text })),
    sequence: count,
    previous: optional(text),
    interactionId: optional(text),
    salt: text,
    items: optional(z.array(item)),
    authentication: optional(authentication),
    issued: optional(z.looseObject({ code: optional(text), token: optional(text) })),
    documents: optional(z.array(z.looseObject({ kind: text, sha256: text }))),
    deleted: optional(texts),
  }),
  version: 1,
  lifetime: "Of a consent or payment: `PLATFORM_DELETE_HISTORIES_DAYS`. Of others: kept.",
  personalData: "pseudonymous",
  retention: "audit",
  restore: "kept",
});

/** A stored subject of a history. */
export interface Recorded {
  /** Position of the newest entry in its history, milliseconds. Absent before the first. */
  readonly recorded?: WallTime;
  /** Number of the newest entry in its history. Absent before the first. */
  readonly sequence?: number;
  /** Leaf hash of the newest entry of its history, base64url. Absent before the first. */
  readonly newest?: string;
}

/** The members of {@link Recorded}, for the schema of a subject's record. */
export const recordedMembers = {
  recorded: optional(instant),
  sequence: optional(count),
  newest: optional(text),
};

const PAGE = 500;
/** Largest history that is read. */
export const MAX_HISTORY = 10_000;

/**
 * Stages the next entry in the history of `subject`, a resource's id, with its evidence. The same commit must write the
 * subject's record with the members of the result, and check its version.
 *
 * @param former the subject before the change, or null if it is new
 */
export function record(
  tx: Transaction,
  subject: string,
  former: Recorded | null,
  { evidence = [], ...event }: AuditEvent,
): Required<Recorded> {
  const isSecond = tx.writes.some(({ key }) => key[0] === auditRecord.name && key[1] === subject);
  if (isSecond) throw new Error("two entries of one history in one commit have no order");
  const last = former?.recorded;
  const recorded = last === undefined ? event.at : Math.max(event.at, last + 1);
  const sequence = (former?.sequence ?? 0) + 1;
  for (const place of event.deleted ?? []) stageBodyGone(tx, place);
  const items = evidence.map((piece) => stageItem(tx, piece, usualPlace(subject, sequence, piece.kind)));
  const entry: AuditEntry = {
    ...event,
    sequence,
    ...(former?.newest === undefined ? {} : { previous: former.newest }),
    ...causeOf(tx),
    salt: newSalt(),
    ...(items.length === 0 ? {} : { items }),
  };
  const id = crypto.randomUUID();
  auditRecord.set(tx, auditKey(subject, recorded, id), entry);
  stagePeopleLog(tx, { subject, position: recorded, id }, entry);
  const leaf = leafHash(subject, entry);
  stageLeaf(tx, leaf, event.at);
  return { recorded, sequence, newest: hashText(leaf) };
}

function stageItem(tx: Transaction, { kind, place, key, ...piece }: Evidence, usual: string): EvidenceItem {
  const body = { ...piece, salt: newSalt() };
  stageBody(tx, place ?? usual, body);
  if (key !== undefined) stageDocument(tx, key);
  return {
    kind,
    sha256: bodyDigest(body),
    ...(place === undefined ? {} : { place }),
    ...(key === undefined ? {} : { key: key.sha256 }),
  };
}

/** An entry and its position in its history, milliseconds. */
export interface PlacedEntry {
  readonly position: number;
  readonly entry: AuditEntry;
}

/**
 * Returns the whole history of a resource, oldest first.
 *
 * @throws {Error} if it has more than {@link MAX_HISTORY} entries, because a part is not evidence
 */
export async function historyOf(store: Store, subject: string): Promise<readonly AuditEntry[]> {
  return (await placedHistoryOf(store, subject)).map(({ entry }) => entry);
}

/** Like {@link historyOf}, with positions, by which the entries of several histories can be merged. */
export async function placedHistoryOf(store: Store, subject: string): Promise<readonly PlacedEntry[]> {
  const history: PlacedEntry[] = [];
  let page: readonly Entry<unknown>[] = [];
  do {
    const after = page.at(-1)?.key;
    const start = after === undefined ? {} : { after };
    page = await store.list({ prefix: [auditRecord.name, subject], ...start, limit: PAGE });
    history.push(...page.map(placed));
  } while (page.length === PAGE && history.length <= MAX_HISTORY);
  if (history.length <= MAX_HISTORY) return history;
  throw new Error(`the history of ${subject} has more than ${MAX_HISTORY} entries`);
}

function placed(entry: Entry<unknown>): PlacedEntry {
  return { position: Number(entry.key[2]), entry: auditRecord.decode(entry).value };
}

/** Returns the entry at a position of a history, milliseconds, or null. */
export async function entryAt(
  store: Store,
  subject: string,
  position: number,
): Promise<AuditEntry | null> {
  const prefix = auditKey(subject, position, "").slice(0, -1);
  const [found] = await store.list({ prefix, limit: 1 });
  return found === undefined ? null : auditRecord.decode(found).value;
}

/** The place of an entry among all entries, which are in the order of their keys. */
export type AuditCursor = Entry<unknown>["key"];

/** An entry with its subject. */
export interface ListedEntry {
  readonly key: AuditCursor;
  readonly subject: string;
  readonly entry: AuditEntry;
}

/** Returns entries of all histories, or of one subject's, after a place. */
export async function auditPage(
  store: Store,
  { subject, after, limit }: {
    readonly subject?: string;
    readonly after?: AuditCursor | undefined;
    readonly limit: number;
  },
): Promise<readonly ListedEntry[]> {
  const prefix = subject === undefined ? [auditRecord.name] : [auditRecord.name, subject];
  const isInside = after === undefined || prefix.every((part, index) => after[index] === part);
  if (!isInside) return [];
  const listed = await store.list({ prefix, ...(after === undefined ? {} : { after }), limit });
  return listed.map((entry) => ({
    key: entry.key,
    subject: entry.key[1] ?? "",
    entry: auditRecord.decode(entry).value,
  }));
}

/** The place in the log of what operators did. */
export type PeoplePlace = Entry<unknown>["key"];

/** Returns entries whose actor is an operator, newest first, that were made at `from` or later (milliseconds). */
export async function peoplePage(
  store: Store,
  after: PeoplePlace,
  { deed, from, limit, isShown }: {
    readonly deed: Deed;
    readonly from: number;
    readonly limit: number;
    readonly isShown: (entry: AuditEntry) => boolean;
  },
): Promise<readonly Row<ListedEntry, PeoplePlace>[]> {
  const listed = (await store.list({ prefix: [peopleLogRecord.name, deed], after, limit }))
    .filter(({ key }) => (key[2] ?? "") <= newestFirstPart(from)).map(peopleLogRecord.decode);
  const keys = listed.map(({ value: { subject, position, id } }) => auditKey(subject, position, id));
  const entries = keys.length === 0 ? [] : await store.getMany(keys);
  return listed.map(({ key: place, value: { subject } }, index) => {
    const found = entries[index] ?? null;
    const entry = found === null ? undefined : auditRecord.decode(found).value;
    const shown = found === null || entry === undefined || !isShown(entry)
      ? undefined
      : { key: found.key, subject, entry };
    return { place, shown };
  });
}

/** Returns the cursor as text. */
export function cursorOf({ key }: ListedEntry): string {
  return base64url(new TextEncoder().encode(JSON.stringify(key)));
}

const cursorSchema = z.tuple([z.literal(auditRecord.name), text.min(1), text.min(1), text.min(1)]);

/** Returns undefined for a text that {@link cursorOf} has not made. */
export function readCursor(sent: string): AuditCursor | undefined {
  try {
    const json = new TextDecoder().decode(Uint8Array.fromBase64(sent, { alphabet: "base64url" }));
    return cursorSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

// What operators did, newest first: an index of the entries of histories whose actor is an operator (contract OP25).

/** Where the entry of a history is. */
export interface PlaceOfEntry {
  readonly subject: string;
  /** Milliseconds. */
  readonly position: number;
  readonly id: string;
}

/** Whether an operator changed something, or read it. */
export type Deed = "change" | "read";

const KEPT_MS = 400 * 86_400_000;
const OPERATOR = "operator ";
const READ = "operator.read";

export const peopleLogRecord = defineRecord<PlaceOfEntry>({
  name: "people_log",
  keyParts: ["`change` or `read`", "time (newest first)", "random id"],
  what: "The place of an entry of a history whose actor is an operator.",
  schema: z.looseObject({ subject: text, position: instant, id: text }),
  version: 1,
  lifetime: "400 days. The entry stays.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

/** Returns where the index is read from: entries of the first millisecond after `until`, and older ones. */
export function peopleLogStart(deed: Deed, until: number): Key {
  return [peopleLogRecord.name, deed, newestFirstPart(until)];
}

/** Stages the place of an entry, if an operator is its actor. */
export function stagePeopleLog(tx: Transaction, place: PlaceOfEntry, { at, actor, event }: AuditEntry): void {
  if (!actor.startsWith(OPERATOR)) return;
  const deed: Deed = event === READ ? "read" : "change";
  peopleLogRecord.set(tx, [peopleLogRecord.name, deed, newestFirstPart(at), place.id], place, at + KEPT_MS);
}
