/**
 * The append-only history of consents, payments, clients and holds: each change with its actor, time and reason. An
 * entry is staged in the commit of its change, so neither exists without the other. The order of a history depends on no
 * clock (Decision M2).
 */
import { z } from "zod";
import { defineRecord, optional } from "../base/store/record.ts";
import { instant, text } from "../base/store/record_fields.ts";
import { auditKey } from "./store_keys.ts";
import type { Entry, Store } from "../base/store/store.ts";
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
  keyParts: ["resource id", "position (ms)", "random id"],
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

/** A stored subject of a history. */
export interface Recorded {
  /** Position of the newest entry in its history, milliseconds. Absent in a record of an earlier version. */
  readonly recorded?: number;
}

const PAGE = 500;
/** Largest history that is read. */
export const MAX_HISTORY = 10_000;

/**
 * Stages the next entry in the history of `subject`, a resource's id. The same commit must write the subject's record
 * with the result as its `recorded`, and check its version.
 *
 * @param former the subject before the change, or null if it is new
 */
export function record(
  tx: Transaction,
  subject: string,
  former: Recorded | null,
  entry: AuditEntry,
): number {
  const isSecond = tx.writes.some(({ key }) => key[0] === auditRecord.name && key[1] === subject);
  if (isSecond) throw new Error("two entries of one history in one commit have no order");
  const position = Math.max(entry.at, (former?.recorded ?? -1) + 1);
  auditRecord.set(tx, auditKey(subject, position, crypto.randomUUID()), entry);
  return position;
}

/**
 * Returns the whole history of a resource, oldest first.
 *
 * @throws {Error} if it has more than {@link MAX_HISTORY} entries, because a part is not evidence
 */
export async function historyOf(store: Store, subject: string): Promise<readonly AuditEntry[]> {
  const history: AuditEntry[] = [];
  let page: readonly Entry<unknown>[] = [];
  do {
    const after = page.at(-1)?.key;
    const start = after === undefined ? {} : { after };
    page = await store.list({ prefix: [auditRecord.name, subject], ...start, limit: PAGE });
    history.push(...page.map((entry) => auditRecord.decode(entry).value));
  } while (page.length === PAGE && history.length <= MAX_HISTORY);
  if (history.length <= MAX_HISTORY) return history;
  throw new Error(`the history of ${subject} has more than ${MAX_HISTORY} entries`);
}
