/**
 * The append-only history of consents, payments, clients and holds: each change with its actor, time, reason and
 * evidence. An entry, its evidence and its leaf of the log are staged in the commit of the change, so none exists
 * without the others. The order of a history depends on no clock (Decision M2).
 */
import type { WallTime } from "../../base/kernel/clock.ts";
import { z } from "zod";
import {
  convertedRecord,
  count,
  defineRecord,
  instant,
  type MembersOf,
  optional,
  text,
  texts,
} from "../../base/store/record.ts";
import { base64url } from "../../base/kernel/identifiers.ts";
import { auditKey, newestFirstPart } from "../config/store_keys.ts";
import type { Entry, Key, Reader, Store } from "../../base/store/store.ts";
import { causeOf, type Transaction } from "../../base/store/transaction.ts";
import { hashText } from "../../base/merkle/tree.ts";
import {
  type AuditEntry,
  type Authentication,
  bodyDigest,
  type Evidence,
  type EvidenceBody,
  type EvidenceItem,
  evidencePlace,
  type Issued,
  leafHash,
  newSalt,
} from "./evidence.ts";
import {
  asBody,
  asStored,
  bodyAt,
  stageBody,
  stageBodyGone,
  stageDocument,
  type StoredBody,
  storedBody,
} from "./evidence_store.ts";
import { type PersonalData, personalDataMember } from "./personal_data.ts";
import { piecesBelow, type Row } from "../../base/store/page.ts";
import { stageLeaf } from "./evidence_log/log_store.ts";

/** An event as the caller of {@link record} knows it. */
export interface AuditEvent
  extends Omit<AuditEntry, "sequence" | "previous" | "interactionId" | "salt" | "items"> {
  /** The evidence of this step, at most one piece of a kind. The pieces in `deleted` are deleted. */
  readonly evidence?: readonly Evidence[];
}

const item = z.looseObject(
  { kind: text, sha256: text, key: optional(text) } satisfies MembersOf<EvidenceItem>,
);
const authentication = z.looseObject(
  {
    clientId: text,
    certificate: text,
    method: text,
    target: text,
    assertion: optional(z.looseObject({ kid: text, jtiHash: text })),
    token: optional(text),
    proof: optional(text),
  } satisfies MembersOf<Authentication>,
);

/** An entry as it is stored. */
interface StoredEntry extends AuditEntry {
  /** Of the first item that can be in the row, if it is small: a row of its own would cost more than what is in it. */
  readonly body?: StoredBody;
  /** The body as it is stored, in a listing or without its data key. */
  readonly sealedMembers?: string;
  /** Set when it is read and its body cannot be opened. Never stored. */
  readonly personalData?: PersonalData;
}

const storedEntryRecord = defineRecord<StoredEntry>({
  name: "audit",
  keyParts: ["resource id", "position (ms)"],
  what:
    "An entry in the append-only history of a consent, payment, client or hold, with a piece of its evidence.",
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
    issued: optional(
      z.looseObject({ code: optional(text), token: optional(text) } satisfies MembersOf<Issued>),
    ),
    documents: optional(z.array(z.looseObject({ kind: text, sha256: text }))),
    deleted: optional(texts),
    body: optional(storedBody),
    sealedMembers: optional(text),
    personalData: optional(personalDataMember),
  }),
  version: 1,
  lifetime:
    "Of a consent or payment: `PLATFORM_DELETE_HISTORIES_DAYS`. Its evidence: until the case is erased. Of others: kept.",
  personalData: "customer",
  retention: "audit",
  restore: "kept",
});

/** Entries without the evidence in their rows. Written back, they have none. */
export const auditRecord = convertedRecord<AuditEntry, StoredEntry>(
  storedEntryRecord,
  ({ body: _, sealedMembers: __, personalData: ___, ...entry }) => entry,
  (entry) => entry,
);

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

/** Largest body in the row of its entry. A value has room for it and for the largest proof. */
const MAX_BODY_BYTES = 16_000;
const PIECE = 500;
/** Largest history that is read. */
const MAX_HISTORY = 10_000;

/**
 * Stages the next entry in the history of `subject`, a resource's id, with its evidence. The same commit must write the
 * subject's record with the members of the result, and check its version. Otherwise it could write over the entry of
 * another commit, which has the same position.
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
  const inRow = evidence.find(isInRow);
  const stored: { body?: StoredBody } = {};
  const items = evidence.map((piece) => {
    const { kind, key, ...content } = piece;
    const body = { ...content, salt: newSalt() };
    if (piece === inRow && body.bytes.length <= MAX_BODY_BYTES) stored.body = asStored(body);
    else stageBody(tx, evidencePlace(subject, sequence, kind), body);
    if (key !== undefined) stageDocument(tx, key);
    return itemOf(piece, body);
  });
  const entry: AuditEntry = {
    ...event,
    sequence,
    ...(former?.newest === undefined ? {} : { previous: former.newest }),
    ...causeOf(tx),
    salt: newSalt(),
    ...(items.length === 0 ? {} : { items }),
  };
  storedEntryRecord.set(tx, auditKey(subject, recorded), { ...entry, ...stored });
  stagePeopleLog(tx, { subject, position: recorded }, entry);
  const leaf = leafHash(subject, entry);
  stageLeaf(tx, leaf, event.at);
  return { recorded, sequence, newest: hashText(leaf) };
}

/** Kinds that requests read without the history: their bodies are always apart from their entries. */
const READ_ALONE: readonly string[] = ["payer_accounts", "tpp_dispute", "bank_dispute"];

function isInRow({ kind }: { readonly kind: string }): boolean {
  return !READ_ALONE.includes(kind);
}

function itemOf({ kind, key }: Evidence, body: EvidenceBody): EvidenceItem {
  return { kind, sha256: bodyDigest(body), ...(key === undefined ? {} : { key: key.sha256 }) };
}

/** An entry and its position in the history of its subject, milliseconds. */
export interface PlacedEntry {
  readonly subject: string;
  readonly position: number;
  readonly entry: AuditEntry;
}

/** A piece of evidence that an entry names. */
export interface NamedPiece {
  /** Where it is stored, or, as participants know it, where it would be apart from its entry. */
  readonly place: string;
  /** The entry in whose row it is, unless it is too large. */
  readonly host?: PlacedEntry;
}

/** Returns the evidence of an entry, in the order of its items. */
export function piecesOf(placed: PlacedEntry): readonly NamedPiece[] {
  const { subject, entry: { items = [], sequence } } = placed;
  const inRow = items.find(isInRow);
  return items.map((item) => ({
    place: evidencePlace(subject, sequence, item.kind),
    ...(item === inRow ? { host: placed } : {}),
  }));
}

/** Returns the body of a piece: null if it was deleted or its case was erased, `"lost"` if its data key is lost. */
export async function bodyOf(
  from: Reader,
  { place, host }: NamedPiece,
): Promise<EvidenceBody | "lost" | null> {
  const [row, apart] = await Promise.all([
    host === undefined ? null : storedEntryRecord.get(from, auditKey(host.subject, host.position)),
    bodyAt(from, place),
  ]);
  const { body, personalData } = row?.value ?? {};
  return body === undefined ? apart ?? (personalData?.state === "lost" ? "lost" : null) : asBody(body);
}

/** Stages the deletion of evidence that is in the rows of entries. The entry of the same commit names it as deleted. */
export function stageOutOfRows(tx: Transaction, pieces: readonly NamedPiece[]): void {
  for (const { host } of pieces) {
    if (host !== undefined) auditRecord.set(tx, auditKey(host.subject, host.position), host.entry);
  }
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
  for await (const piece of piecesBelow(store, [auditRecord.name, subject], PIECE)) {
    history.push(...piece.map(toPlacedEntry));
    if (history.length > MAX_HISTORY) {
      throw new Error(`the history of ${subject} has more than ${MAX_HISTORY} entries`);
    }
  }
  return history;
}

function toPlacedEntry(entry: Entry<unknown>): PlacedEntry {
  const [, subject = "", position] = entry.key;
  return { subject, position: Number(position), entry: auditRecord.decode(entry).value };
}

/** Returns the entry at a position of a history, milliseconds, or null. */
export async function entryAt(
  store: Store,
  subject: string,
  position: number,
): Promise<AuditEntry | null> {
  return (await auditRecord.get(store, auditKey(subject, position)))?.value ?? null;
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
  const keys = listed.map(({ value: { subject, position } }) => auditKey(subject, position));
  const entries = await store.getMany(keys);
  return listed.map(({ key: place, value: { subject } }, index) => {
    const found = entries[index] ?? null;
    if (found === null) return { place, shown: undefined };
    const entry = auditRecord.decode(found).value;
    return { place, shown: isShown(entry) ? { key: found.key, subject, entry } : undefined };
  });
}

/** Returns the cursor as text. */
export function cursorOf({ key }: ListedEntry): string {
  return base64url(new TextEncoder().encode(JSON.stringify(key)));
}

const cursorSchema = z.tuple([z.literal(auditRecord.name), text.min(1), text.min(1)]);

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
  schema: z.looseObject({ subject: text, position: instant }),
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
  const key = [peopleLogRecord.name, deed, newestFirstPart(at), crypto.randomUUID()];
  peopleLogRecord.set(tx, key, place, at + KEPT_MS);
}
