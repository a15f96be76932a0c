/** A receipt: what the platform signs about a payment for its payer (contract RCP1, RCP2). No I/O. */
import { z } from "zod";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import { unixSeconds, wireDateTime } from "../../../base/kernel/clock.ts";
import { PAYMENT_STATUSES, type ReadablePayment } from "../payments/payment.ts";

/** `typ` of a receipt. Nothing else that the platform signs has it. */
export const RECEIPT_TYP = "payment-receipt+jwt";
/** A longer text is not a receipt, characters. */
export const MAX_RECEIPT_CHARACTERS = 8192;
const ENDING_CHARACTERS = 4;

const dateTime = z.iso.datetime({ offset: true });

const receiptSchema = z.object({
  iss: z.string(),
  iat: z.int().nonnegative(),
  sub: z.uuid(),
  amount: z.string(),
  currency: z.string(),
  payee: z.string(),
  payee_account_scheme: z.string(),
  payee_account_ending: z.string().max(ENDING_CHARACTERS),
  status: z.enum(PAYMENT_STATUSES),
  status_at: dateTime,
  created_at: dateTime,
  bank: z.string(),
  bank_name: z.string(),
  tpp_name: z.string(),
  end_to_end_identification: z.string().optional(),
});

/** The claims of a receipt. It has no data of the payer. */
export type Receipt = Readonly<z.infer<typeof receiptSchema>>;

/** The registered names that a receipt shows. */
export interface Names {
  readonly bank: string;
  readonly tpp: string;
}

/**
 * Returns the receipt of a payment as it is at `now`, in milliseconds.
 *
 * @param issuer the `PLATFORM_AUTH_URL` of the platform
 */
export function receiptOf(payment: ReadablePayment, names: Names, issuer: string, now: number): Receipt {
  const { instructedAmount, creditorAccount, endToEndIdentification } = payment.initiation;
  return {
    iss: issuer,
    iat: unixSeconds(now),
    sub: payment.id,
    amount: instructedAmount.amount,
    currency: instructedAmount.currency,
    payee: creditorAccount.name,
    payee_account_scheme: creditorAccount.schemeName,
    payee_account_ending: creditorAccount.identification.slice(-ENDING_CHARACTERS),
    status: payment.status,
    status_at: wireDateTime(payment.statusUpdatedAt),
    created_at: wireDateTime(payment.createdAt),
    bank: payment.bank,
    bank_name: names.bank,
    tpp_name: names.tpp,
    ...(endToEndIdentification === undefined ? {} : { end_to_end_identification: endToEndIdentification }),
  };
}

/** Returns the receipt that verified claims are, or undefined if they are none. Further claims are ignored. */
export function readReceipt(claims: JsonObject): Receipt | undefined {
  return receiptSchema.safeParse(claims).data;
}
