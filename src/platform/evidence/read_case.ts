/**
 * Reads the case file of a consent and its payment: every entry of both histories with its evidence, oldest first. For
 * disputes and for operators, not for requests of participants.
 */
import { type ConsentId, type PaymentId, paymentIdOf } from "../../base/kernel/identifiers.ts";
import { openRequestReads } from "../../base/store/request_reads.ts";
import type { Reader, Store } from "../../base/store/store.ts";
import { bodyOf, type NamedPiece, piecesOf, type PlacedEntry, placedHistoryOf } from "./audit_trail.ts";
import { documentAt } from "./evidence_store.ts";
import type { EvidenceBody, EvidenceItem } from "./evidence.ts";

/** The case file of a consent and its payment. */
export interface CaseFile {
  readonly consentId: ConsentId;
  /** Follows from the consent's id (Decision G9). Whether there is a payment, its entries show. */
  readonly paymentId: PaymentId;
  readonly entries: readonly CaseEntry[];
  /** The keys and software statements that entries name, by SHA-256. */
  readonly documents: ReadonlyMap<string, string>;
}

/** An entry of the consent's history or of its payment's. */
export interface CaseEntry extends PlacedEntry {
  /** Of `entry.items`, in their order. */
  readonly items: readonly CaseItem[];
}

/** A piece of evidence that an entry names. */
export interface CaseItem {
  readonly item: EvidenceItem;
  /** Null if the body has been deleted, `"lost"` if its data key is lost. */
  readonly body: EvidenceBody | "lost" | null;
}

/** Largest case file that is read. A payment of an ordinary customer has about 20 pieces of evidence. */
const MAX_CASE_ITEMS = 1000;
/** Pieces of evidence, or documents, that are read in one round trip. */
const BATCH = 20;

/**
 * Returns the case file of a consent, or null if the store has no such consent.
 *
 * @throws {Error} if it has more pieces of evidence than {@link MAX_CASE_ITEMS}, because a part is not evidence
 */
export async function readCase(store: Store, consentId: ConsentId): Promise<CaseFile | null> {
  const paymentId = await paymentIdOf(consentId);
  const histories = await Promise.all([consentId, paymentId].map((id) => placedHistoryOf(store, id)));
  const named = histories.flat().toSorted((a, b) => a.position - b.position); // stable: the consent's entry first
  if (named.length === 0) return null;
  const pieces = new Map(named.flatMap(piecesOf).map((piece) => [piece.place, piece]));
  if (pieces.size > MAX_CASE_ITEMS) throw new Error(`${consentId} has more than ${MAX_CASE_ITEMS} items`);
  const bodies = await readEach(
    store,
    [...pieces.keys()],
    (reader, place) => bodyOf(reader, pieces.get(place) ?? { place }),
  );
  const entries = named.map((each) => {
    const found = piecesOf(each).map(({ place }) => bodies.get(place) ?? null);
    const items = (each.entry.items ?? []).map((item, index) => ({ item, body: found[index] ?? null }));
    return { ...each, items };
  });
  const documents = await readEach(store, [...new Set(named.flatMap(documentsOf))], documentAt);
  return { consentId, paymentId, entries, documents };
}

function documentsOf({ entry: { items = [], documents = [] } }: PlacedEntry): readonly string[] {
  return [...items.flatMap(({ key }) => key ?? []), ...documents.map(({ sha256 }) => sha256)];
}

/** Returns the evidence of one history that no entry has deleted. */
export async function storedPiecesOf(store: Store, subject: string): Promise<readonly NamedPiece[]> {
  const named = await placedHistoryOf(store, subject);
  const deleted = new Set(named.flatMap(({ entry }) => entry.deleted ?? []));
  return named.flatMap(piecesOf).filter(({ place }) => !deleted.has(place));
}

/** Returns what is stored under each name. What is missing is absent. */
async function readEach<T>(
  store: Store,
  names: readonly string[],
  read: (reader: Reader, name: string) => Promise<T | null>,
): Promise<ReadonlyMap<string, T>> {
  const stored = new Map<string, T>();
  for (let from = 0; from < names.length; from += BATCH) {
    const reads = openRequestReads(store);
    await Promise.all(
      names.slice(from, from + BATCH).map(async (name) => {
        const found = await read(reads, name);
        if (found !== null) stored.set(name, found);
      }),
    );
  }
  return stored;
}
