/** Stores how far the search for due cases is, and stages what retention deletes, with its entry in the evidence log. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import canonicalize from "canonicalize";
import { z } from "zod";
import type { ConsentId, PaymentId } from "../../../base/kernel/identifiers.ts";
import { defineRecord, optional } from "../../../base/store/record.ts";
import { consentId, instant } from "../../../base/store/record_fields.ts";
import type { Entry, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import { auditRecord } from "../../evidence/audit_trail.ts";
import type { Consent } from "../../core/consents/consent.ts";
import { consentRecord } from "../../core/consents/consent_store.ts";
import { caseHash, stageDeletedCase } from "../../evidence/deleted_case_store.ts";
import type { Payment } from "../../core/payments/payment.ts";
import { stagePaymentGone } from "../../core/payments/payment_store.ts";
import type { ControlsStore } from "../../guards/security/controls_store.ts";
import { caseDeletionKey, caseErasureKey, consentKey, retentionScanKey } from "../../config/store_keys.ts";

/** How far the search is. */
export interface RetentionScan {
  /** The last consent that was looked at. Absent between two searches. */
  readonly after?: ConsentId;
  /** When the search began, milliseconds. */
  readonly beganAt: WallTime;
}

export const retentionScanRecord = defineRecord<RetentionScan>({
  name: "retention_scan",
  keyParts: [],
  what: "How far the search for cases whose retention period has passed is.",
  schema: z.looseObject({ after: optional(consentId), beganAt: instant }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
});

export const caseDeletionRecord = defineRecord<{ readonly consentId: ConsentId }>({
  name: "case_deletion",
  keyParts: ["consent id"],
  what: "A deleted case whose history may not be deleted completely.",
  schema: z.looseObject({ consentId }),
  version: 1,
  lifetime: "Until the history is deleted, seconds.",
  personalData: "pseudonymous",
  retention: "protocol",
});

/** A class of records and the rule by which it was deleted. */
export interface AppliedRule {
  readonly class: "evidence" | "audit";
  /** The variable and its value, such as `PLATFORM_ERASE_CASES_DAYS=1826`. */
  readonly rule: string;
  /** The newest entry of each case is not later, milliseconds. */
  readonly until: number;
}

/** Entries of a history that one commit deletes. */
const ENTRIES = 400;

/**
 * Stages the entry that proves a deletion: class, rule, time, number and hashes of the cases.
 *
 * @param at milliseconds
 * @returns the place of the entry
 */
export async function stageApplied(
  tx: Transaction,
  controls: ControlsStore,
  applied: AppliedRule,
  cases: readonly PaymentId[],
  at: number,
): Promise<{ readonly subject: string; readonly position: number }> {
  const subject = `retention ${applied.class}`;
  const content = canonicalize({ ...applied, count: cases.length, cases: cases.map(caseHash).toSorted() });
  const { recorded } = await controls.stageEvent(tx, subject, {
    at,
    event: "retention.applied",
    actor: "clock",
    reason: `${applied.class} of ${cases.length} cases of ${
      new Date(applied.until).toISOString()
    } or before; ${applied.rule}`,
    evidence: [{ kind: "retention", bytes: new TextEncoder().encode(content) }],
  });
  return { subject, position: recorded };
}

/** Stages the deletion of a case: its records now, its history with {@link deleteHistory}. */
export function stageCaseGone(
  tx: Transaction,
  { consent, payment, caseId }: {
    readonly consent: Entry<Consent>;
    readonly payment: Entry<Payment> | null;
    readonly caseId: PaymentId;
  },
  entry: { readonly subject: string; readonly position: number },
): void {
  const { id } = consent.value;
  check(tx, consent.key, consent.version);
  check(tx, caseErasureKey(id), null); // its evidence and its data key are deleted
  remove(tx, consent.key);
  if (payment !== null) stagePaymentGone(tx, payment);
  stageDeletedCase(tx, caseId, entry);
  caseDeletionRecord.set(tx, caseDeletionKey(id), { consentId: id });
}

/** Returns cases whose histories may not be deleted completely, at most `limit`. */
export async function unfinishedDeletions(store: Store, limit: number): Promise<readonly ConsentId[]> {
  const entries = await store.list({ prefix: [caseDeletionRecord.name], limit });
  return entries.map((entry) => caseDeletionRecord.decode(entry).value.consentId);
}

/** Stages the deletion of the oldest entries of a history. Returns false if it has none. */
export async function stageOldestGone(tx: Transaction, store: Store, subject: string): Promise<boolean> {
  const entries = await store.list({ prefix: [auditRecord.name, subject], limit: ENTRIES });
  for (const { key } of entries) remove(tx, key);
  return entries.length > 0;
}

export function stageDeletionDone(tx: Transaction, id: ConsentId): void {
  remove(tx, caseDeletionKey(id));
}

export async function scanOf(store: Store): Promise<Entry<RetentionScan> | null> {
  return await retentionScanRecord.get(store, retentionScanKey);
}

export function stageScan(tx: Transaction, former: Entry<RetentionScan> | null, scan: RetentionScan): void {
  check(tx, retentionScanKey, former?.version ?? null);
  retentionScanRecord.set(tx, retentionScanKey, scan);
}

/** Returns the next consents in the order of their ids, at most `limit`. */
export async function consentsAfter(
  store: Store,
  after: ConsentId | undefined,
  limit: number,
): Promise<readonly Entry<Consent>[]> {
  const start = after === undefined ? {} : { after: consentKey(after) };
  return (await store.list({ prefix: [consentRecord.name], ...start, limit })).map(consentRecord.decode);
}
