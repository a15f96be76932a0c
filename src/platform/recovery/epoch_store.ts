/**
 * Reads the data of a restored store that a new epoch affects: the mark, the banks, consents that could still be
 * used, and all short-lived entries. Each listing is read in pieces, so that a large store needs bounded memory.
 */
import type { Consent } from "../consents/consent.ts";
import { consentOf, type StoredConsent } from "../consents/stored_consent.ts";
import { asBankCode, type BankCode, type ConsentId } from "../../base/kernel/identifiers.ts";
import type { Payment } from "../payments/payment.ts";
import { paymentOf, type StoredPayment } from "../payments/stored_payment.ts";
import type { PaymentOrder } from "../payments/payment_order.ts";
import { storeCopyKey } from "../../base/store/copy_mark.ts";
import { consentKey, paymentKey, storeEpochKey } from "../store_keys.ts";
import { type Entry, type Key, readAs, type Store } from "../../base/store/store.ts";
import { check, remove, set, type Transaction } from "../../base/store/transaction.ts";
import type { CopyMark, Epoch } from "./hold.ts";

/** An entry that expires. */
export interface Ending {
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** Reads a restored store and stages the new epoch. */
export interface EpochStore {
  copyMark(): Promise<Entry<CopyMark> | null>;
  banks(): Promise<readonly BankCode[]>;
  /** Consents whose deadline is not recorded yet, in pieces. */
  openConsents(): AsyncIterable<readonly Entry<Consent>[]>;
  /** Payments of the orders in the outbox, in pieces. */
  orders(): AsyncIterable<readonly Payment[]>;
  /** Entries below a prefix, in pieces. */
  below<T>(prefix: string): AsyncIterable<readonly Entry<T>[]>;
  /** Stages the epoch and the deletion of the mark. After that the store is no longer a restored copy. */
  stageEpoch(tx: Transaction, epoch: Epoch, mark: Entry<CopyMark>): void;
}

/** The largest values of one piece must fit into one commit of Deno KV (800 KB). */
const PIECE = 20;

export function openEpochStore(store: Store): EpochStore {
  return {
    copyMark: () => store.get<CopyMark>(storeCopyKey),
    async banks() {
      const codes: BankCode[] = [];
      for await (const piece of pieces<unknown>(store, ["bank"])) {
        codes.push(...piece.flatMap(({ key }) => asBankCode(key[1]) ?? []));
      }
      return codes;
    },
    async *openConsents() {
      for await (const piece of pieces<ConsentId>(store, ["consent_deadline"])) {
        const consents = await store.getMany<StoredConsent>(piece.map(({ value }) => consentKey(value)));
        yield consents.flatMap((entry) => readAs(consentOf, entry) ?? []);
      }
    },
    async *orders() {
      for await (const piece of pieces<PaymentOrder>(store, ["outbox"])) {
        const payments = await store.getMany<StoredPayment>(
          piece.map(({ value }) => paymentKey(value.paymentId)),
        );
        yield payments.flatMap((entry) => readAs(paymentOf, entry)?.value ?? []);
      }
    },
    below: <T>(prefix: string) => pieces<T>(store, [prefix]),
    stageEpoch(tx, epoch, mark) {
      check(tx, mark.key, mark.version);
      remove(tx, mark.key);
      set(tx, storeEpochKey(epoch.startedAt, epoch.id), epoch);
    },
  };
}

async function* pieces<T>(store: Store, prefix: Key): AsyncIterable<readonly Entry<T>[]> {
  let after: Key | undefined;
  while (true) {
    const listing = after === undefined ? { prefix, limit: PIECE } : { prefix, limit: PIECE, after };
    const piece = await store.list<T>(listing);
    if (piece.length > 0) yield piece;
    if (piece.length < PIECE) return;
    after = piece.at(-1)?.key;
  }
}
