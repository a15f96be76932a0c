/** The form of a payment in the store. As in a stored consent, what was sent keeps the names of the API. */
import { z } from "zod";
import { recordedMembers } from "../../evidence/audit_trail.ts";
import { convertedRecord, defineRecord, optional } from "../../../base/store/record.ts";
import {
  bankCode,
  clientId,
  consentId,
  flag,
  instant,
  paymentId,
  text,
} from "../../../base/store/record_fields.ts";
import type { Initiation } from "../consents/initiation.ts";
import { fromWire, type OnWire, toWire } from "../../guards/http/wire_names.ts";
import { type Charge, type PayingAccount, type Payment, PAYMENT_STATUSES } from "./payment.ts";

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

const account = z.looseObject({
  SchemeName: text,
  Identification: text,
  Name: z.optional(text),
  SecondaryIdentification: z.optional(text),
  Currency: z.optional(text),
});

const charge = z.looseObject({
  ChargeBearer: z.optional(text),
  Type: z.optional(text),
  Amount: z.looseObject({ Amount: text, Currency: text }),
});

/** `payment_schema.ts` has checked its contents. */
const initiation = z.custom<StoredPayment["initiation"]>((value) =>
  typeof value === "object" && value !== null
);

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
      statusReason: optional(text),
      closedAt: optional(instant),
      erasedAt: optional(instant),
      isLost: optional(z.literal(true)),
      charges: z.array(charge),
      createdAt: instant,
      statusUpdatedAt: instant,
      ...recordedMembers,
    }),
    version: 1,
    lifetime: "Personal data: until the case is erased. The rest: as long as its history.",
    personalData: "customer",
    retention: "evidence",
  }),
  paymentOf,
  storedPayment,
);
