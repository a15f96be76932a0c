/** Payments on the wire (interface "Domestic payment (response of POST and GET)"). */
import { z } from "@hono/zod-openapi";
import { paidInitiation, withoutName } from "../consents/initiation.ts";
import { wireDateTime } from "../kernel/clock.ts";
import { type Payment, PAYMENT_STATUSES } from "./payment.ts";

const account = z.object({
  SchemeName: z.string(),
  Identification: z.string(),
  Name: z.string().optional(),
  SecondaryIdentification: z.string().optional(),
});

/** Its shape, for the OpenAPI document. */
export const paymentSchema = z.object({
  Data: z.object({
    DomesticPaymentId: z.uuid(),
    ConsentId: z.uuid(),
    CreationDateTime: z.string(),
    Status: z.enum(PAYMENT_STATUSES),
    StatusUpdateDateTime: z.string(),
    Refund: z.object({ Account: account }).optional(),
    Charges: z.array(z.object({ Amount: z.object({ Amount: z.string(), Currency: z.string() }) })),
    Initiation: z.object({
      InstructionIdentification: z.string().optional(),
      EndToEndIdentification: z.string().optional(),
      InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
      DebtorAccount: account.optional(),
      CreditorAccount: account,
      CreditorPostalAddress: z.object({}).optional(),
      RemittanceInformation: z.object({
        Unstructured: z.string().optional(),
        Reference: z.string().optional(),
      }).optional(),
      SupplementaryData: z.object({}).optional(),
    }),
  }),
  Links: z.object({ Self: z.string() }),
  Meta: z.object({}),
}).openapi("Payment");

/** A payment as its TPP sees it: never the payer's name, the refund account only where it was asked for. */
export function representPayment(payment: Payment, baseUrl: string): object {
  return {
    Data: {
      DomesticPaymentId: payment.id,
      ConsentId: payment.consentId,
      CreationDateTime: wireDateTime(payment.createdAt),
      Status: payment.status,
      StatusUpdateDateTime: wireDateTime(payment.statusUpdatedAt),
      ...(payment.readRefundAccount ? { Refund: { Account: withoutName(payment.debtorAccount) } } : {}), // Decision C9
      Charges: payment.charges,
      Initiation: paidInitiation(payment.initiation),
    },
    Links: { Self: `${baseUrl}/${payment.bank}/domestic-payments/v1/${payment.id}` },
    Meta: {},
  };
}
