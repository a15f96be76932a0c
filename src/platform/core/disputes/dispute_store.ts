/** Stores disputes, and which of them have not ended. A payment has one at most. */
import { z } from "zod";
import type { BankCode, ClientId, PaymentId } from "../../../base/kernel/identifiers.ts";
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
import type { Entry, Key, Reader, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
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
  keyParts: ["payment id"],
  what: "A payment whose dispute has not ended.",
  schema: z.looseObject({ paymentId, clientId, bank: bankCode }),
  version: 1,
  lifetime: "Until the dispute ends.",
  personalData: "pseudonymous",
  retention: "audit",
  restore: "kept",
});

export interface DisputeStore {
  find(from: Reader, of: DisputedPayment): Promise<Entry<Dispute> | null>;
  /** Stages a new or changed dispute. Of parallel changes one commits. */
  stage(tx: Transaction, former: Entry<Dispute> | null, changed: Dispute): void;
  /** Returns disputes that have not ended, the one that is due first before the others. */
  open(limit: number): Promise<readonly Dispute[]>;
  /** Returns disputes at a bank, or of a TPP at it, also those that have ended, in no order. */
  at(bank: BankCode, client: ClientId | undefined, limit: number): Promise<readonly Dispute[]>;
  /** Whether the payment has a dispute that has not ended. */
  isOpen(from: Reader, payment: PaymentId): Promise<boolean>;
}

export function openDisputeStore(store: Store): DisputeStore {
  return {
    find: (from, of) => disputeRecord.get(from, keyOf(of)),
    stage(tx, former, changed) {
      const { paymentId, clientId, bank } = changed;
      const [key, open] = [keyOf(changed), openDisputeKey(paymentId)];
      check(tx, key, former?.version ?? null);
      disputeRecord.set(tx, key, changed);
      if (changed.dueAt === undefined) remove(tx, open);
      else openDisputeRecord.set(tx, open, { paymentId, clientId, bank });
    },
    async open(limit) {
      const listed = (await store.list({ prefix: openDisputeKey(), limit })).map(openDisputeRecord.decode);
      const found = await store.getMany(listed.map(({ value }) => keyOf(value)));
      return found.flatMap((entry) => entry === null ? [] : disputeRecord.decode(entry).value)
        .toSorted((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0));
    },
    async at(bank, client, limit) {
      return (await store.list({ prefix: disputeKey(bank, client), limit }))
        .map((entry) => disputeRecord.decode(entry).value);
    },
    isOpen: async (from, payment) => await openDisputeRecord.get(from, openDisputeKey(payment)) !== null,
  };
}

/** Stages the deletion of the dispute of a payment whose case has ended, if it had one. */
export function stageDisputeGone(tx: Transaction, of: DisputedPayment): void {
  remove(tx, keyOf(of));
  remove(tx, openDisputeKey(of.paymentId));
}

function keyOf({ bank, clientId, paymentId }: DisputedPayment): Key {
  return disputeKey(bank, clientId, paymentId);
}
