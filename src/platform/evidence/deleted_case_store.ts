/**
 * Stores which cases retention has deleted with their histories, by the hash of the case's id. So a deleted case is told
 * apart from a lost one (contract EN14), and a restore does not bring it back.
 */
import { z } from "zod";
import { defineRecord, instant, text } from "../../base/store/record.ts";
import type { PaymentId } from "../../base/kernel/identifiers.ts";
import type { Reader } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { deletedCaseKey } from "../config/store_keys.ts";
import { digest } from "./digest.ts";

/** The history entry that names the case as deleted. */
export interface DeletedCase {
  readonly subject: string;
  /** Its position in that history, milliseconds. */
  readonly position: number;
}

export const deletedCaseRecord = defineRecord<DeletedCase>({
  name: "deleted_case",
  keyParts: ["SHA-256 of the case's id"],
  what: "A case whose history was deleted: the place of the entry that says so.",
  schema: z.looseObject({ subject: text, position: instant }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "proof",
  restore: "kept",
});

/** Returns how the evidence of a deletion names a case: by the SHA-256 of its payment's id (Decision G9), base64url. */
export function caseHash(caseId: string): string {
  return digest(caseId);
}

export function stageDeletedCase(tx: Transaction, caseId: PaymentId, deleted: DeletedCase): void {
  deletedCaseRecord.set(tx, deletedCaseKey(caseHash(caseId)), deleted);
}

/** Returns how the case was deleted, or null. */
export async function deletedCase(from: Reader, caseId: string): Promise<DeletedCase | null> {
  return (await deletedCaseRecord.get(from, deletedCaseKey(caseHash(caseId))))?.value ?? null;
}
