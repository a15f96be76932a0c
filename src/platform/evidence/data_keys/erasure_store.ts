/** Stores erasures that are not complete yet, so that a process that ends in the middle leaves none unfinished. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import { z } from "zod";
import type { ConsentId } from "../../../base/kernel/identifiers.ts";
import { consentId, defineRecord, instant, text } from "../../../base/store/record.ts";
import type { Store } from "../../../base/store/store.ts";
import { remove, type Transaction } from "../../../base/store/transaction.ts";
import { caseErasureKey } from "../../config/store_keys.ts";

/** An erasure that an operator has requested. */
export interface Erasure {
  readonly consentId: ConsentId;
  /** `operator <name>`. */
  readonly actor: string;
  readonly reason: string;
  /** Milliseconds. */
  readonly at: WallTime;
}

export const caseErasureRecord = defineRecord<Erasure>({
  name: "case_erasure",
  keyParts: ["consent id"],
  what: "An erasure of a case whose data key may not be deleted yet.",
  schema: z.looseObject({ consentId, actor: text, reason: text, at: instant }),
  version: 1,
  lifetime: "Until the erasure is complete, seconds.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

export function stageErasure(tx: Transaction, erasure: Erasure): void {
  caseErasureRecord.set(tx, caseErasureKey(erasure.consentId), erasure);
}

export function stageErasureDone(tx: Transaction, consentId: ConsentId): void {
  remove(tx, caseErasureKey(consentId));
}

/** Returns erasures that are not complete, at most `limit`, behind one or from the first. */
export async function unfinishedErasures(
  store: Store,
  limit: number,
  after?: Erasure,
): Promise<readonly Erasure[]> {
  const place = after && caseErasureKey(after.consentId);
  return (await caseErasureRecord.list(store, { after: place, limit })).map(({ value }) => value);
}
