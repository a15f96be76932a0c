/** Stores of which of its expiries each TPP has a notice, so that each notice is staged once. */
import { z } from "zod";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { count, defineRecord, instant, text } from "../../base/store/record.ts";
import type { Entry, Reader } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { notifiedExpiriesKey } from "../config/store_keys.ts";
import type { NoticeId } from "./event.ts";
import type { NotifiedExpiry } from "./expiry.ts";

interface NotifiedExpiries {
  readonly notified: readonly NotifiedExpiry[];
}

const noticeId = z.custom<NoticeId>((value) => typeof value === "string" && value.startsWith("t-"));

export const notifiedExpiriesRecord = defineRecord<NotifiedExpiries>({
  name: "notified_expiries",
  keyParts: ["client id"],
  what: "The ends of its statement, keys and certificates of which a TPP has a notice.",
  schema: z.looseObject({
    notified: z.array(
      z.looseObject({ name: text, expiresAt: instant, id: noticeId, days: count, position: instant }),
    ),
  }),
  version: 1,
  lifetime: "Until the last of them.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

/** Returns the expiries of which the TPP has a notice. */
export async function findNotified(from: Reader, client: ClientId): Promise<Entry<NotifiedExpiries> | null> {
  return await notifiedExpiriesRecord.get(from, notifiedExpiriesKey(client));
}

/** Stages them. Of parallel changes one commits. */
export function stageNotified(
  tx: Transaction,
  client: ClientId,
  former: Entry<NotifiedExpiries> | null,
  notified: readonly NotifiedExpiry[],
): void {
  const keptUntil = Math.max(...notified.map(({ expiresAt }) => expiresAt));
  notifiedExpiriesRecord.replace(tx, notifiedExpiriesKey(client), former, { notified }, keptUntil);
}
