/** Stores how far the search for consents and payments is that the lists lack (`operations/cases/fill_lists.ts`). */
import type { WallTime } from "../../../base/kernel/clock.ts";
import { z } from "zod";
import type { ConsentId } from "../../../base/kernel/identifiers.ts";
import { defineRecord, optional } from "../../../base/store/record.ts";
import { consentId, count, flag, instant } from "../../../base/store/record_fields.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import { check, type Transaction } from "../../../base/store/transaction.ts";
import { LIST_FILL_KEY } from "../../config/store_keys.ts";

/** A search through all consents. */
export interface ListFill {
  /** Milliseconds. */
  readonly beganAt: WallTime;
  /** The last consent that was looked at. */
  readonly after?: ConsentId;
  /** A search has found nothing to correct up to this consent, so the next one begins behind it. */
  readonly verified?: ConsentId;
  /** Entries that it has added or removed. */
  readonly corrected: number;
  readonly isEnded: boolean;
  /** Whether the newest search that has ended, and the one under way, have found no entry to correct. */
  readonly isComplete: boolean;
}

export const listFillRecord = defineRecord<ListFill>({
  name: "list_fill",
  keyParts: [],
  what: "How far the search for consents and payments is that the lists lack.",
  schema: z.looseObject({
    beganAt: instant,
    after: optional(consentId),
    verified: optional(consentId),
    corrected: count,
    isEnded: flag,
    isComplete: flag,
  }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
});

export async function listFillOf(from: Reader): Promise<Entry<ListFill> | null> {
  return await listFillRecord.get(from, LIST_FILL_KEY);
}

export async function isListComplete(from: Reader): Promise<boolean> {
  return (await listFillOf(from))?.value.isComplete ?? false;
}

/** Stages how far the search is. The commit fails if another process has gone on with it meanwhile. */
export function stageListFill(tx: Transaction, former: Entry<ListFill> | null, fill: ListFill): void {
  check(tx, LIST_FILL_KEY, former?.version ?? null);
  listFillRecord.set(tx, LIST_FILL_KEY, fill);
}
