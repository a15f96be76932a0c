/** Stores how far the search for due cases is, and stages what retention deletes, with its entry in the evidence log. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import canonicalize from "canonicalize";
import { z } from "zod";
import type { ConsentId, PaymentId } from "../../../base/kernel/identifiers.ts";
import { consentId, defineRecord, instant, optional } from "../../../base/store/record.ts";
import type { Entry, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import { auditRecord } from "../../evidence/audit_trail.ts";
import type { Consent } from "../../core/consents/consent.ts";
import { consentRecord } from "../../core/consents/consent_store.ts";
import { caseHash, stageDeletedCase } from "../../evidence/deleted_case_store.ts";
import type { Payment } from "../../core/payments/payment.ts";
import { stageDisputeGone } from "../../core/disputes/dispute_store.ts";
import { stagePaymentGone } from "../../core/payments/payment_store.ts";
import { stageControlEvent } from "../../guards/security/controls_store.ts";
import {
  caseDeletionKey,
  caseErasureKey,
  consentKey,
  retentionLeftKey,
  retentionScanKey,
} from "../../config/store_keys.ts";

/** How far the search for a class of records is. */
export interface RetentionScan {
  /** It looks at cases that earlier searches have left, then at old consents after `passed`, and then rests. */
  readonly at: "left" | "old" | "rest";
  /** When the search began, milliseconds. */
  readonly beganAt: WallTime;
  /** When a search began with the first consent, milliseconds. */
  readonly anewAt: WallTime;
  /** Of the consents up to this one, those that are not done are in the list of left cases. */
  readonly passed?: ConsentId;
  /** The left case that was looked at last. */
  readonly left?: ConsentId;
}

export const retentionScanRecord = defineRecord<RetentionScan>({
  name: "retention_scan",
  keyParts: ["class of retention"],
  what: "How far the search for cases whose retention period has passed is.",
  schema: z.looseObject({
    at: z.enum(["left", "old", "rest"]),
    beganAt: instant,
    anewAt: instant,
    passed: optional(consentId),
    left: optional(consentId),
  }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

export const retentionLeftRecord = defineRecord<{ readonly consentId: ConsentId }>({
  name: "retention_left",
  keyParts: ["class of retention", "consent id"],
  what:
    "An old case that is not due yet, or that must stay for now. The search looks at it again every hour.",
  schema: z.looseObject({ consentId }),
  version: 1,
  lifetime: "Until the records of the class are erased or deleted.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
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
  restore: "kept",
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
  applied: AppliedRule,
  cases: readonly PaymentId[],
  at: number,
): Promise<{ readonly subject: string; readonly position: number }> {
  const subject = `retention ${applied.class}`;
  const content = canonicalize({ ...applied, count: cases.length, cases: cases.map(caseHash).toSorted() });
  const { recorded } = await stageControlEvent(tx, subject, {
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
  const { id, clientId, bank } = consent.value;
  check(tx, consent.key, consent.version);
  check(tx, caseErasureKey(id), null); // its evidence and its data key are deleted
  remove(tx, consent.key);
  if (payment !== null) stagePaymentGone(tx, payment);
  stageDisputeGone(tx, { paymentId: caseId, clientId, bank });
  stageDeletedCase(tx, caseId, entry);
  caseDeletionRecord.set(tx, caseDeletionKey(id), { consentId: id });
}

/** Returns cases whose histories may not be deleted completely, at most `limit`. */
export async function unfinishedDeletions(store: Store, limit: number): Promise<readonly ConsentId[]> {
  return (await caseDeletionRecord.list(store, { limit })).map(({ value }) => value.consentId);
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

export async function scanOf(store: Store, name: AppliedRule["class"]): Promise<Entry<RetentionScan> | null> {
  return await retentionScanRecord.get(store, retentionScanKey(name));
}

export function stageScan(
  tx: Transaction,
  name: AppliedRule["class"],
  former: Entry<RetentionScan> | null,
  scan: RetentionScan,
): void {
  retentionScanRecord.replace(tx, retentionScanKey(name), former, scan);
}

/** Returns the next consents in the order of their ids, at most `limit`. */
export function consentsAfter(
  store: Store,
  after: ConsentId | undefined,
  limit: number,
): Promise<readonly Entry<Consent>[]> {
  return consentRecord.list(store, { after: after && consentKey(after), limit });
}

/** Returns consents by their ids, those that exist. */
export async function consentsOf(
  store: Store,
  ids: readonly ConsentId[],
): Promise<readonly Entry<Consent>[]> {
  const entries = await store.getMany(ids.map(consentKey));
  return entries.flatMap((entry) => entry === null ? [] : consentRecord.decode(entry));
}

/** Returns the cases that a search has left, in the order of their ids, after one of them. */
export async function leftAfter(
  store: Store,
  name: AppliedRule["class"],
  after: ConsentId | undefined,
  limit: number,
): Promise<readonly ConsentId[]> {
  const listing = { prefix: retentionLeftKey(name), after: after && retentionLeftKey(name, after), limit };
  return (await retentionLeftRecord.list(store, listing)).map(({ value }) => value.consentId);
}

export function stageLeft(tx: Transaction, name: AppliedRule["class"], id: ConsentId): void {
  retentionLeftRecord.set(tx, retentionLeftKey(name, id), { consentId: id });
}

export function stageLeftDone(tx: Transaction, name: AppliedRule["class"], id: ConsentId): void {
  remove(tx, retentionLeftKey(name, id));
}
