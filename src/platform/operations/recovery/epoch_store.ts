/**
 * Reads the data of a restored store that a new epoch affects: the mark, the banks, consents that could still be
 * used, and all short-lived entries. Each listing is read in pieces, so that a large store needs bounded memory.
 */
import { z } from "zod";
import { defineRecord, instant, type StoredRecord, text } from "../../../base/store/record.ts";
import { consentDeadlineRecord, consentRecord } from "../../core/consents/consent_store.ts";
import { outboxRecord } from "../../core/payments/order_outbox_records.ts";
import { paymentRecord } from "../../core/payments/payment_store.ts";
import type { Consent } from "../../core/consents/consent.ts";
import { asBankCode, type BankCode, type PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Payment } from "../../core/payments/payment.ts";
import type { PaymentOrder } from "../../core/payments/payment_order.ts";
import { storeCopyKey } from "../../../base/store/copy_mark.ts";
import { consentKey, paymentKey, storeEpochKey } from "../../config/store_keys.ts";
import { piecesBelow } from "../../../base/store/page.ts";
import type { Entry, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import type { LogHead } from "../../evidence/evidence_log/log_records.ts";
import { stageLogEpoch } from "../../evidence/evidence_log/log_store.ts";
import type { CopyMark, Epoch } from "./hold.ts";

export const storeEpochRecord = defineRecord<Epoch>({
  name: "store_epoch",
  keyParts: ["time of the restore (ms)", "epoch id"],
  what: "The start of an epoch: the store was restored from this copy.",
  schema: z.looseObject({
    id: text,
    startedAt: instant,
    copy: z.looseObject({ id: text, takenAt: instant }),
  }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "begun",
});

/** The largest values of one piece must fit into one commit of Deno KV (800 KB). */
const PIECE = 20;

export function findCopyMark(store: Store): Promise<Entry<CopyMark> | null> {
  return store.get<CopyMark>(storeCopyKey);
}

export async function listBankCodes(store: Store): Promise<readonly BankCode[]> {
  const codes: BankCode[] = [];
  for await (const piece of piecesBelow(store, ["bank"], PIECE)) {
    codes.push(...piece.flatMap(({ key }) => asBankCode(key[1]) ?? []));
  }
  return codes;
}

/** Consents whose deadline is not recorded yet, in pieces. */
export async function* listOpenConsents(store: Store): AsyncIterable<readonly Entry<Consent>[]> {
  for await (const piece of piecesBelow(store, ["consent_deadline"], PIECE)) {
    const ids = piece.map((entry) => consentDeadlineRecord.decode(entry).value);
    const consents = await store.getMany(ids.map(consentKey));
    yield consents.flatMap((entry) => entry === null ? [] : consentRecord.decode(entry));
  }
}

/** Orders in the outbox, in pieces. */
export async function* listOutboxOrders(store: Store): AsyncIterable<readonly Entry<PaymentOrder>[]> {
  for await (const piece of piecesBelow(store, ["outbox"], PIECE)) yield piece.map(outboxRecord.decode);
}

export async function findPayments(store: Store, ids: readonly PaymentId[]): Promise<readonly Payment[]> {
  const payments = await store.getMany(ids.map(paymentKey));
  return payments.flatMap((entry) => entry === null ? [] : paymentRecord.decode(entry).value);
}

/** Returns the epochs that began at this time or later, milliseconds, oldest first. */
export async function listEpochs(store: Store, startedAt: number): Promise<readonly Epoch[]> {
  const epochs: Epoch[] = [];
  for await (const piece of piecesBelow(store, [storeEpochRecord.name], PIECE)) {
    epochs.push(...piece.map(storeEpochRecord.decode).map(({ value }) => value));
  }
  return epochs.filter((epoch) => epoch.startedAt >= startedAt);
}

/** Entries of a record, in pieces. */
export async function* listEntries(
  store: Store,
  { name, keyParts }: Pick<StoredRecord<unknown>, "name" | "keyParts">,
): AsyncIterable<readonly Entry<unknown>[]> {
  const key = name.split(" ");
  if (keyParts.length > 0) return yield* piecesBelow(store, key, PIECE);
  const entry = await store.get(key);
  if (entry !== null) yield [entry];
}

/**
 * Stages the epoch, also in the evidence log, and the deletion of the mark. After that the store is no longer a
 * restored copy.
 */
export function stageEpoch(
  tx: Transaction,
  epoch: Epoch,
  mark: Entry<CopyMark>,
  logHead: Entry<LogHead> | null,
): void {
  check(tx, mark.key, mark.version);
  remove(tx, mark.key);
  const { id, startedAt, copy: { takenAt } } = epoch;
  storeEpochRecord.set(tx, storeEpochKey(startedAt, id), epoch);
  stageLogEpoch(tx, logHead, { id, startedAt, copyTakenAt: takenAt });
}
