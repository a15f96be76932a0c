/** Stores the payments that no bank has decided on for long, and how far each bank's payments are searched for them. */
import { z } from "zod";
import type { Clock } from "../../../base/kernel/clock.ts";
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import { bankCode, defineRecord, instant, paymentId, text } from "../../../base/store/record.ts";
import type { Entry, Reader, Store } from "../../../base/store/store.ts";
import type { Transaction } from "../../../base/store/transaction.ts";
import type { Payment } from "../../core/payments/payment.ts";
import { unsettledKey, unsettledSearchKey } from "../../config/store_keys.ts";

/** A payment that was not decided when its time had passed. It may be since. */
export interface Unsettled {
  readonly paymentId: PaymentId;
  readonly bank: BankCode;
  /** Milliseconds. */
  readonly createdAt: number;
}

export const unsettledRecord = defineRecord<Unsettled>({
  name: "unsettled",
  keyParts: ["bank code", "time of creation (ms) and payment id"],
  what: "A payment on which its bank has not decided for `PLATFORM_UNSETTLED_HOURS`.",
  schema: z.looseObject({ paymentId, bank: bankCode, createdAt: instant }),
  version: 1,
  lifetime: "Until the bank has decided.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

export const unsettledSearchRecord = defineRecord<{ readonly place: string }>({
  name: "unsettled_search",
  keyParts: ["bank code"],
  what: "The last payment of a bank, by creation, that was searched for one without a decision.",
  schema: z.looseObject({ place: text }),
  version: 1,
  lifetime: "Kept.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

/** The clocks of processes differ by less. */
const MARGIN_MS = 60_000;

/**
 * Returns what stages an undecided payment that the search may have passed: a statement recovers it, or its bank decides
 * after all, although an operator had closed its order. One that is younger the search still comes to.
 *
 * @param unsettledMs from its creation
 */
export function undecidedAfterSearch(
  clock: Clock,
  unsettledMs: number,
): (tx: Transaction, payment: Pick<Payment, "id" | "bank" | "createdAt">) => void {
  return (tx, { id: paymentId, bank, createdAt }) => {
    if (createdAt > clock() - unsettledMs + MARGIN_MS) return;
    unsettledRecord.set(tx, unsettledKey(bank, createdAt, paymentId), { paymentId, bank, createdAt });
  };
}

/** Returns the oldest ones of a bank. */
export function listUnsettled(
  store: Store,
  bank: BankCode,
  limit: number,
): Promise<readonly Entry<Unsettled>[]> {
  return unsettledRecord.list(store, { prefix: unsettledKey(bank), limit });
}

type SearchedTo = Entry<{ readonly place: string }>;

export function findSearched(store: Reader, bank: BankCode): Promise<SearchedTo | null> {
  return unsettledSearchRecord.get(store, unsettledSearchKey(bank));
}

/** Stages what a search has found, and how far it is. The commit fails if another process was faster. */
export function stageFound(
  tx: Transaction,
  bank: BankCode,
  former: SearchedTo | null,
  { place, unsettled }: { readonly place: string; readonly unsettled: readonly Unsettled[] },
): void {
  unsettledSearchRecord.replace(tx, unsettledSearchKey(bank), former, { place });
  for (const one of unsettled) {
    unsettledRecord.set(tx, unsettledKey(bank, one.createdAt, one.paymentId), one);
  }
}
