/**
 * Bundles of deleted cases: the entry of the evidence log that names the case, so that anyone can tell a case that
 * retention has deleted from one that was lost (contract EN14, EV13).
 */
import type { Store } from "../../../base/store/store.ts";
import { bodyOf, entryAt, piecesOf } from "../../evidence/audit_trail.ts";
import { caseIdOf } from "../../evidence/data_keys/case_keys.ts";
import { type DeletedCase, deletedCase } from "../../evidence/deleted_case_store.ts";
import type { CaseEntry } from "../../evidence/read_case.ts";
import { viewLog } from "../../evidence/evidence_log/log_proofs.ts";
import { type BundleDeps, representEntry, withStatement } from "./case_bundle.ts";

export const DELETION_FORMAT = "evidence-deletion-1";
const STATEMENT_TYP = "evidence-deletion+jwt";

/**
 * Returns the bundle of the deletion of a case.
 *
 * @param id of the consent or of its payment
 * @returns null if the case was not deleted, and `"waiting"` if the entry has no place in the log yet
 */
export async function deletionOf(deps: BundleDeps, id: string): Promise<string | null | "waiting"> {
  const caseId = caseIdOf(id);
  const deleted = await deletedWith(deps.store, id);
  if (caseId === undefined || deleted === null) return null;
  const [named, log] = await Promise.all([namedEntry(deps.store, deleted), viewLog(deps.evidenceLog)]);
  if (named === null || log === null) return "waiting";
  const entry = await representEntry(named, log);
  if (entry === "waiting") return "waiting";
  const unsigned = { format: DELETION_FORMAT, checkpoint: log.checkpoint, entry };
  return await withStatement(deps, unsigned, STATEMENT_TYP, { case: caseId });
}

/** Returns the entry that names a deleted case, or null. `id` is that of the consent or of its payment. */
export async function deletionEntry(store: Store, id: string): Promise<CaseEntry | null> {
  const deleted = await deletedWith(store, id);
  return deleted === null ? null : await namedEntry(store, deleted);
}

async function deletedWith(store: Store, id: string): Promise<DeletedCase | null> {
  const caseId = caseIdOf(id);
  return caseId === undefined ? null : await deletedCase(store, caseId);
}

async function namedEntry(store: Store, { subject, position }: DeletedCase): Promise<CaseEntry | null> {
  const entry = await entryAt(store, subject, position);
  if (entry === null) return null;
  const placed = { subject, position, entry };
  const bodies = await Promise.all(piecesOf(placed).map((piece) => bodyOf(store, piece)));
  return {
    ...placed,
    items: (entry.items ?? []).map((item, index) => ({ item, body: bodies[index] ?? null })),
  };
}
