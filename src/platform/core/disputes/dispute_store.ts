/** Stores disputes, and which of them have not ended. A payment has one at most. */
import { z } from "zod";
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";
import {
  bankCode,
  clientId,
  consentId,
  count,
  defineRecord,
  instant,
  optional,
  paymentId,
} from "../../../base/store/record.ts";
import { piecesBelow } from "../../../base/store/page.ts";
import type { Entry, Key, Reader, Store } from "../../../base/store/store.ts";
import { remove, type Transaction } from "../../../base/store/transaction.ts";
import { disputeKey, openDisputeKey } from "../../config/store_keys.ts";
import { type Dispute, DISPUTE_PARTIES, DISPUTE_STATUSES, OUTCOMES } from "./dispute.ts";

export const disputeRecord = defineRecord<Dispute>({
  name: "dispute",
  keyParts: ["bank code", "client id", "payment id"],
  what: "A dispute about a payment. What the parties state is evidence in the payment's history.",
  schema: z.looseObject({
    paymentId,
    consentId,
    clientId,
    bank: bankCode,
    openedBy: z.enum(DISPUTE_PARTIES),
    status: z.enum(DISPUTE_STATUSES),
    dueAt: optional(instant),
    outcome: optional(z.enum(OUTCOMES)),
    openedAt: instant,
    updatedAt: instant,
    position: instant,
    steps: z.array(z.looseObject({ by: z.enum(DISPUTE_PARTIES), sequence: count, at: instant })),
  }),
  version: 1,
  lifetime: "As long as the payment's history.",
  personalData: "pseudonymous",
  retention: "audit",
  restore: "kept",
});

/** The payment that a dispute is about. */
export type DisputedPayment = Pick<Dispute, "paymentId" | "clientId" | "bank">;

export const openDisputeRecord = defineRecord<DisputedPayment>({
  name: "dispute_open",
  keyParts: ["due time (ms)", "payment id"],
  what: "A payment whose dispute has not ended, by the time at which the next step is due.",
  schema: z.looseObject({ paymentId, clientId, bank: bankCode }),
  version: 1,
  lifetime: "Until the dispute ends.",
  personalData: "pseudonymous",
  retention: "audit",
  restore: "kept",
});

const PIECE = 500;
/** Disputes that one list reads. */
const MAX_READ = 20_000;

export function findDispute(from: Reader, of: DisputedPayment): Promise<Entry<Dispute> | null> {
  return disputeRecord.get(from, keyOf(of));
}

/** Stages a new or changed dispute. Of parallel changes one commits. */
export function stageDispute(tx: Transaction, former: Entry<Dispute> | null, changed: Dispute): void {
  const { paymentId, clientId, bank, dueAt } = changed;
  disputeRecord.replace(tx, keyOf(changed), former, changed);
  if (former?.value.dueAt !== undefined) remove(tx, openDisputeKey(former.value.dueAt, paymentId));
  if (dueAt !== undefined) {
    openDisputeRecord.set(tx, openDisputeKey(dueAt, paymentId), { paymentId, clientId, bank });
  }
}

/** Returns disputes that have not ended, those that are due first, in their order. @param isWanted of all, by default */
export async function listOpenDisputes(
  store: Store,
  limit: number,
  isWanted: (of: DisputedPayment) => boolean = () => true,
): Promise<readonly Dispute[]> {
  const listed: DisputedPayment[] = [];
  for await (const piece of piecesBelow(store, openDisputeKey(), PIECE, MAX_READ)) {
    listed.push(...piece.map((entry) => openDisputeRecord.decode(entry).value).filter(isWanted));
    if (listed.length >= limit) break;
  }
  const found = await store.getMany(listed.slice(0, limit).map(keyOf));
  return found.flatMap((entry) => entry === null ? [] : disputeRecord.decode(entry).value);
}

/** Returns disputes at a bank, or of a TPP at it, also those that have ended, in no order. */
export async function listDisputes(
  store: Store,
  bank: BankCode,
  client?: ClientId,
): Promise<readonly Dispute[]> {
  const found: Dispute[] = [];
  for await (const piece of piecesBelow(store, disputeKey(bank, client), PIECE, MAX_READ)) {
    found.push(...piece.map((entry) => disputeRecord.decode(entry).value));
  }
  return found;
}

/** Whether the payment has a dispute that has not ended. */
export async function hasOpenDispute(from: Reader, of: DisputedPayment): Promise<boolean> {
  return (await findDispute(from, of))?.value.dueAt !== undefined;
}

/** Stages the deletion of the dispute of a payment whose case has ended, if it had one. An open one keeps its case. */
export function stageDisputeGone(tx: Transaction, of: DisputedPayment): void {
  remove(tx, keyOf(of));
}

function keyOf({ bank, clientId, paymentId }: DisputedPayment): Key {
  return disputeKey(bank, clientId, paymentId);
}
