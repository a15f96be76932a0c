/** Stores payments and the list of each bank's orders by time of creation. Both are written in one commit. */
import { personalDataMember } from "../../evidence/personal_data.ts";
import {
  bankCode,
  clientId,
  consentId,
  convertedRecord,
  defineRecord,
  flag,
  instant,
  type MembersOf,
  optional,
  paymentId,
  text,
} from "../../../base/store/record.ts";
import type { Cause } from "../consents/consent_store.ts";
import { asPaymentId, type BankCode, type PaymentId } from "../../../base/kernel/identifiers.ts";
import { type AuditEvent, record, type Recorded, recordedMembers } from "../../evidence/audit_trail.ts";
import { whyOf } from "../../events/event.ts";
import type { StageEvent } from "../../events/event_store.ts";
import { stageListed, stageListedGone } from "../../guards/lists/lookup_store.ts";
import { paymentKey, paymentOrdersKey } from "../../config/store_keys.ts";
import type { Entry, Key, Reader, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import {
  type Charge,
  type ErasedPayment,
  isDecided,
  type PayingAccount,
  type Payment,
  PAYMENT_STATUSES,
} from "./payment.ts";
import { z } from "zod";
import { isJsonObject } from "../../../base/kernel/json.ts";
import type { Initiation } from "../consents/initiation.ts";
import { fromWire, type OnWire, toWire } from "../../guards/http/wire_fields.ts";
import { REASON_CODES } from "../../../base/values/reason_codes.ts";

// The form of a payment in the store. As in a stored consent, what was sent keeps the names of the API.

export interface StoredPayment extends Omit<Payment, "initiation" | "debtorAccount" | "charges"> {
  readonly initiation: OnWire<Initiation>;
  readonly debtorAccount: OnWire<PayingAccount>;
  readonly charges: OnWire<readonly Charge[]>;
}

export function storedPayment(payment: Payment): StoredPayment {
  const { initiation, debtorAccount, charges } = payment;
  return {
    ...payment,
    initiation: toWire(initiation),
    debtorAccount: toWire(debtorAccount),
    charges: toWire(charges),
  };
}

export function paymentOf(stored: StoredPayment): Payment {
  const { initiation, debtorAccount, charges } = stored;
  return {
    ...stored,
    initiation: fromWire(initiation),
    debtorAccount: fromWire(debtorAccount),
    charges: fromWire(charges),
  };
}

const account = z.looseObject(
  {
    SchemeName: text,
    Identification: text,
    Name: z.optional(text),
    SecondaryIdentification: z.optional(text),
    Currency: z.optional(text),
  } satisfies MembersOf<StoredPayment["debtorAccount"]>,
);

const charge = z.looseObject(
  {
    ChargeBearer: z.optional(text),
    Type: z.optional(text),
    Amount: z.looseObject({ Amount: text, Currency: text }),
  } satisfies MembersOf<StoredPayment["charges"][number]>,
);

/** `payment_schema.ts` has checked its contents. */
const initiation = z.custom<StoredPayment["initiation"]>(isJsonObject);

export const paymentRecord = convertedRecord(
  defineRecord<StoredPayment>({
    name: "payment",
    keyParts: ["payment id"],
    what: "A payment and its status.",
    schema: z.looseObject({
      id: paymentId,
      consentId,
      clientId,
      bank: bankCode,
      initiation,
      debtorAccount: account,
      readRefundAccount: flag,
      status: z.enum(PAYMENT_STATUSES),
      statusReasonCode: optional(z.enum(REASON_CODES)),
      statusReason: optional(text),
      closedAt: optional(instant),
      personalData: personalDataMember,
      charges: z.array(charge),
      createdAt: instant,
      statusUpdatedAt: instant,
      ...recordedMembers,
    }),
    version: 1,
    lifetime: "Personal data: until the case is erased. The rest: as long as its history.",
    personalData: "customer",
    retention: "evidence",
    restore: "kept",
  }),
  paymentOf,
  storedPayment,
);

export interface PaymentStore {
  find(from: Reader, id: PaymentId): Promise<Entry<Payment> | null>;
  /** The commit fails if there is a payment with this id. */
  stageAbsence(tx: Transaction, id: PaymentId): void;
  /**
   * Stages the payment, its order for the bank and the start of its history.
   *
   * @param entry the position of the entry in the consent's history that the payment follows, if any, and the time of the
   * payment's first entry, by default its creation; both in milliseconds
   */
  stageCreation(
    tx: Transaction,
    payment: Payment,
    cause: Cause,
    entry?: { readonly consumed?: number | undefined; readonly at?: number },
  ): void;
  /** Stages the changed payment and its history entry at `at`. The commit fails if the payment changed meanwhile. */
  stageChange(tx: Transaction, former: Entry<Payment>, changed: Payment, cause: Cause, at: number): void;
  /**
   * Stages an entry in the payment's history that does not change the payment. The commit fails if the payment changed
   * meanwhile.
   *
   * @returns the position of the entry, milliseconds
   */
  stageNote(tx: Transaction, id: PaymentId, entry: AuditEvent): Promise<number>;
  /** Stages the payment of an erased case, and the entry that says when and why. */
  stageErased(tx: Transaction, former: Entry<Payment>, changed: ErasedPayment, cause: Cause): void;
  /** Returns a bank's payments, oldest first, after the one at this place. */
  listOrders(bank: BankCode, after: string | undefined, limit: number): Promise<readonly ListedOrder[]>;
}

/** An entry in a bank's list of orders. */
export interface ListedOrder {
  readonly place: string;
  /** Milliseconds. */
  readonly createdAt: number;
  /** Undefined if its case has ended since the list was read. */
  readonly payment: Payment | undefined;
}

/** Keys to prefetch for the payment that a path names. */
export function paymentAhead(idText: unknown): readonly Key[] {
  const id = asPaymentId(idText);
  return id === undefined ? [] : [paymentKey(id)];
}

export const paymentOfBankRecord = defineRecord<PaymentId>({
  name: "payment_order",
  keyParts: ["bank code", "time of creation (ms) and payment id"],
  what: "The id of a bank's payment, by time of creation.",
  schema: paymentId,
  version: 1,
  lifetime: "As long as the payment's history.",
  personalData: "pseudonymous",
  retention: "audit",
  restore: "kept",
});

/**
 * @param stageEvent stages what the TPP is told of a status
 * @param stageUndecided stages that a payment is undecided which the search for such may have passed: one that a statement
 *   recovers, or with which the bank goes on after an operator had closed its order
 */
export function openPaymentStore(
  store: Store,
  stageEvent: StageEvent,
  stageUndecided: (tx: Transaction, payment: Payment) => void,
): PaymentStore {
  const stageStatus = openStatusStaging(stageEvent);
  const stageAbsence = (tx: Transaction, id: PaymentId): void => check(tx, paymentKey(id), null);
  return {
    find: (from, id) => paymentRecord.get(from, paymentKey(id)),
    stageAbsence,
    stageCreation(tx, payment, cause, { consumed = -1, at = payment.createdAt } = {}) {
      stageAbsence(tx, payment.id);
      const created = { at, event: `payment.${payment.status}`, ...cause };
      stageStatus(tx, payment, { recorded: consumed }, created);
      paymentOfBankRecord.set(tx, orderKey(payment), payment.id); // Decision D1: the order exists exactly if the payment does
      stageListed(tx, "payment", payment); // contract LS1
      if (at !== payment.createdAt && !isDecided(payment)) stageUndecided(tx, payment); // a statement recovers it
    },
    stageChange(tx, former, changed, cause, at) {
      check(tx, former.key, former.version);
      stageStatus(tx, changed, former.value, { at, event: `payment.${changed.status}`, ...cause });
      if (former.value.closedAt !== undefined && !isDecided(changed)) stageUndecided(tx, changed);
    },
    async stageNote(tx, id, entry) {
      const payment = await paymentRecord.get(tx, paymentKey(id));
      if (payment === null) throw new Error("a history entry without its payment");
      check(tx, payment.key, payment.version);
      return stageRecorded(tx, payment.value, payment.value, entry);
    },
    stageErased(tx, former, changed, cause) {
      check(tx, former.key, former.version);
      const { at } = changed.personalData;
      stageRecorded(tx, changed, former.value, { ...cause, at, event: "payment.erased" });
      stageListedGone(tx, "payment", former.value);
    },
    listOrders: (bank, after, limit) => listOrders(store, bank, after, limit),
  };
}

type StageStatus = (tx: Transaction, payment: Payment, former: Recorded, entry: AuditEvent) => void;

function openStatusStaging(stageEvent: StageEvent): StageStatus {
  return (tx, payment, former, entry) => {
    const position = stageRecorded(tx, payment, former, entry);
    const { id: resource, consentId, clientId, bank, status, statusUpdatedAt: at } = payment;
    const type = "payment-status-changed";
    const isClosed = payment.closedAt !== undefined; // its next change is the bank's report, which removes this
    const forBank = isClosed ? { forBank: "payment-closed" as const } : {}; // contract EVT19
    const why = whyOf({ reasonCode: payment.statusReasonCode, reason: payment.statusReason });
    stageEvent(tx, { type, resource, consentId, clientId, bank, status, ...why, at, position, ...forBank }); // contract EVT1
  };
}

/** Returns the position of the history entry, milliseconds. */
function stageRecorded(tx: Transaction, payment: Payment, former: Recorded, entry: AuditEvent): number {
  const recorded = record(tx, payment.id, former, entry);
  paymentRecord.set(tx, paymentKey(payment.id), { ...payment, ...recorded });
  return recorded.recorded;
}

/** Stages the deletion of a payment, whose case has ended. */
export function stagePaymentGone(tx: Transaction, payment: Entry<Payment>): void {
  check(tx, payment.key, payment.version);
  remove(tx, payment.key);
  remove(tx, orderKey(payment.value));
}

function orderKey(payment: Payment): Key {
  return [...paymentOrdersKey(payment.bank), `${String(payment.createdAt).padStart(15, "0")}-${payment.id}`];
}

async function listOrders(
  store: Store,
  bank: BankCode,
  after: string | undefined,
  limit: number,
): Promise<readonly ListedOrder[]> {
  const prefix = paymentOrdersKey(bank);
  const start = after === undefined ? undefined : [...prefix, after];
  const orders = await paymentOfBankRecord.list(store, { prefix, after: start, limit });
  const payments = await store.getMany(orders.map(({ value }) => paymentKey(value)));
  return orders.map(({ key }, index) => {
    const [place = "", payment = null] = [key.at(-1), payments[index]];
    const createdAt = Number(place.slice(0, place.indexOf("-")));
    return { place, createdAt, payment: payment === null ? undefined : paymentRecord.decode(payment).value };
  });
}
