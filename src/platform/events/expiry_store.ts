/** Stores what each TPP has been told of its expiries, so that each notice is staged once. */
import { z } from "zod";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { count, defineRecord, instant, text } from "../../base/store/record.ts";
import type { Entry, Reader } from "../../base/store/store.ts";
import { check, type Transaction } from "../../base/store/transaction.ts";
import { toldExpiriesKey } from "../config/store_keys.ts";
import type { NoticeId } from "./event.ts";
import type { Told } from "./expiry.ts";

interface ToldExpiries {
  readonly told: readonly Told[];
}

const noticeId = z.custom<NoticeId>((value) => typeof value === "string" && value.startsWith("t-"));

export const toldExpiriesRecord = defineRecord<ToldExpiries>({
  name: "told_expiries",
  keyParts: ["client id"],
  what: "Which ends of its statement, keys and certificates a TPP has been told of.",
  schema: z.looseObject({
    told: z.array(
      z.looseObject({ name: text, expiresAt: instant, id: noticeId, days: count, position: instant }),
    ),
  }),
  version: 1,
  lifetime: "Until the last of them.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

/** Returns what the TPP has been told. */
export async function findTold(from: Reader, client: ClientId): Promise<Entry<ToldExpiries> | null> {
  return await toldExpiriesRecord.get(from, toldExpiriesKey(client));
}

/** Stages what the TPP has been told. Of parallel changes one commits. */
export function stageTold(
  tx: Transaction,
  client: ClientId,
  former: Entry<ToldExpiries> | null,
  told: readonly Told[],
): void {
  const key = toldExpiriesKey(client);
  check(tx, key, former?.version ?? null);
  toldExpiriesRecord.set(tx, key, { told }, Math.max(...told.map(({ expiresAt }) => expiresAt)));
}
