/** Stores notices about banks that not every TPP has yet (Decision T4). */
import { z } from "zod";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { bankCode, clientId, count, defineRecord, instant, optional, text } from "../../base/store/record.ts";
import type { Entry, Store } from "../../base/store/store.ts";
import { causeOf, check, remove, type Transaction } from "../../base/store/transaction.ts";
import { noticeSpreadKey } from "../config/store_keys.ts";
import { BANK_NOTICE_TYPES, type BankNoticeType, type Notice } from "./event.ts";

/** A notice about a bank, for every TPP. */
export interface NoticeToAll {
  readonly bank: BankCode;
  /** A UUID. Notices with one id are delivered in the order of their positions. */
  readonly id: string;
  /** Milliseconds. It grows with every notice of this id. */
  readonly position: number;
  readonly notice: Notice & { readonly type: BankNoticeType };
}

/** A notice that is being staged. */
export interface NoticeSpread extends NoticeToAll {
  /** Of the operator's request; absent if none caused it. */
  readonly interactionId?: string;
  /** The last client whose notice is staged, in the order of their ids; absent before the first page. */
  readonly after?: ClientId;
}

export const noticeSpreadRecord = defineRecord<NoticeSpread>({
  name: "notice_spread",
  keyParts: ["bank code", "position (ms)", "id"],
  what: "A notice about a bank that not every TPP has yet, and how far that is.",
  schema: z.looseObject({
    bank: bankCode,
    id: text,
    position: instant,
    notice: z.looseObject({
      type: z.enum(BANK_NOTICE_TYPES),
      status: text,
      at: instant,
      about: text,
      link: text,
      details: z.record(z.string(), z.union([text, count])),
    }),
    interactionId: optional(text),
    after: optional(clientId),
  }),
  version: 1,
  lifetime: "Until every TPP has its notice.",
  personalData: "none",
  retention: "protocol",
  restore: "kept",
});

/** Stages a notice, in the transaction of what it tells. */
export function stageNoticeToAll(tx: Transaction, { bank, id, position, notice }: NoticeToAll): void {
  const spread = { bank, id, position, notice, ...causeOf(tx) };
  noticeSpreadRecord.set(tx, noticeSpreadKey(bank, position, id), spread);
}

/** Returns the first one that not every TPP has. Those of one bank are in the order of their positions. */
export async function findFirstSpread(store: Store): Promise<Entry<NoticeSpread> | undefined> {
  return (await noticeSpreadRecord.list(store, { limit: 1 }))[0];
}

/** Stages how far it is, or that every TPP has it. The commit fails if another process was faster. */
export function stageSpread(
  tx: Transaction,
  { key, value, version }: Entry<NoticeSpread>,
  after: ClientId | undefined,
): void {
  check(tx, key, version);
  if (after === undefined) remove(tx, key);
  else noticeSpreadRecord.set(tx, key, { ...value, after });
}
