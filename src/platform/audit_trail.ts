/**
 * The append-only history of consents, payments and clients: who moved what, when and why. An entry is staged in
 * the commit of the move that it tells of, so neither is there without the other.
 */
import { auditKey } from "./store_keys.ts";
import type { Store } from "../base/store/store.ts";
import { set, type Transaction } from "../base/store/transaction.ts";

/** One move in a history. */
export interface AuditEntry {
  /** Milliseconds. */
  readonly at: number;
  /** `<area>.<what>`, such as `consent.authorised`. */
  readonly event: string;
  /** Who caused it: a client id, `customer`, `clock` or `platform`. */
  readonly actor: string;
  readonly reason?: string;
  /** What a customer's decision was about, where it was taken on a page of ours. */
  readonly page?: ShownPage;
}

/** A page as it was read: in which language, and the SHA-256 (base64url) of what it told. */
export interface ShownPage {
  readonly language: string;
  readonly sha256: string;
}

const PAGE = 500;

let recorded = 0;

/** Stages an entry in the history of `subject`, a resource's id. Entries of one millisecond keep their order. */
export function record(tx: Transaction, subject: string, entry: AuditEntry): void {
  const order = String(recorded++).padStart(12, "0");
  set(tx, auditKey(subject, entry.at, `${order}-${crypto.randomUUID()}`), entry);
}

/** The history of a resource, oldest first. */
export async function historyOf(store: Store, subject: string): Promise<readonly AuditEntry[]> {
  const entries = await store.list<AuditEntry>({ prefix: ["audit", subject], limit: PAGE });
  return entries.map(({ value }) => value);
}
