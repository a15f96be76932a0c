/**
 * The append-only history of consents, payments and clients: each change with its actor, time and reason. An entry is
 * staged in the commit of its change, so neither exists without the other.
 */
import { z } from "zod";
import { defineRecord, optional } from "../base/store/record.ts";
import { instant, text } from "../base/store/record_fields.ts";
import { auditKey } from "./store_keys.ts";
import type { Store } from "../base/store/store.ts";
import type { Transaction } from "../base/store/transaction.ts";

export interface AuditEntry {
  /** Milliseconds. */
  readonly at: number;
  /** `<area>.<what>`, such as `consent.authorised`. */
  readonly event: string;
  /** A client id, `customer`, `clock` or `platform`. */
  readonly actor: string;
  readonly reason?: string;
  /** The page on which a customer decided, if the decision was made on the platform's screen. */
  readonly page?: ShownPage;
}

/** A page as the customer read it: its language, and the SHA-256 (base64url) of its facts. */
export interface ShownPage {
  readonly language: string;
  readonly sha256: string;
}

export const auditRecord = defineRecord<AuditEntry>({
  name: "audit",
  keyParts: ["resource id", "time (ms)", "order and random id"],
  what: "An entry in the append-only history of a consent, payment, client or hold.",
  schema: z.looseObject({
    at: instant,
    event: text,
    actor: text,
    reason: optional(text),
    page: optional(z.looseObject({ language: text, sha256: text })),
  }),
  version: 1,
  lifetime: "Kept.",
  personalData: "pseudonymous",
});

const PAGE = 500;

let recorded = 0;

/** Stages an entry in the history of `subject`, a resource's id. Entries of the same millisecond keep their order. */
export function record(tx: Transaction, subject: string, entry: AuditEntry): void {
  const order = String(recorded++).padStart(12, "0");
  auditRecord.set(tx, auditKey(subject, entry.at, `${order}-${crypto.randomUUID()}`), entry);
}

/** Returns the history of a resource, oldest first. */
export async function historyOf(store: Store, subject: string): Promise<readonly AuditEntry[]> {
  const entries = await store.list({ prefix: ["audit", subject], limit: PAGE });
  return entries.map((entry) => auditRecord.decode(entry).value);
}
