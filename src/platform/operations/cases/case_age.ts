/**
 * How old a case is, by its entries and by the log (contract EN15). A computer's clock alone does not decide it: a case that was dated
 * too early while a clock was behind has its place in the log after checkpoints that are younger.
 */
import type { ConsentId, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Store } from "../../../base/store/store.ts";
import { placedHistoryOf } from "../../evidence/audit_trail.ts";
import { leafHash } from "../../evidence/evidence.ts";
import { placeOf } from "../../evidence/evidence_log/log_proofs.ts";
import type { LogStore } from "../../evidence/evidence_log/log_store.ts";

/** Entries that a deletion makes itself do not begin a period anew. */
const DELETING = new Set([
  "consent.erased",
  "payment.erased",
  "consent.evidence_deleted",
  "payment.evidence_deleted",
  "consent.personal_data_deleted",
]);

export interface CaseAgeDeps {
  readonly store: Store;
  readonly evidenceLog: Pick<LogStore, "ranges" | "tiles" | "smallestSizeAfter">;
}

/** Why a case is not older than a time. */
export type TooYoung =
  /** Of the newest entry, milliseconds. */
  | { readonly newest: number }
  /** The log got the entry later than the entry's time says, or does not have it. */
  | "contradicts the log";

/**
 * Returns why the newest entries of a case are not from `until` (milliseconds) or before, or undefined if they are. No
 * checkpoint of a later hour may lack them.
 */
export async function youngerThan(
  deps: CaseAgeDeps,
  { consentId, caseId }: { readonly consentId: ConsentId; readonly caseId: PaymentId },
  until: number,
): Promise<TooYoung | undefined> {
  const histories = await Promise.all([consentId, caseId].map((id) => placedHistoryOf(deps.store, id)));
  const ends = histories.flatMap((entries) =>
    entries.findLast(({ entry }) => !DELETING.has(entry.event)) ?? []
  );
  const newest = Math.max(...ends.map(({ position, entry }) => Math.max(position, entry.at)));
  if (newest > until) return { newest };
  const size = await deps.evidenceLog.smallestSizeAfter(until);
  for (const { subject, entry } of ends) {
    const index = await placeOf(deps.evidenceLog, leafHash(subject, entry), entry.at);
    if (index === undefined || index >= size) return "contradicts the log";
  }
  return undefined;
}
