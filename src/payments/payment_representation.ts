/** Payments on the wire (interface "Domestic payment (response of POST and GET)"). */
import { z } from "@hono/zod-openapi";
import { paidInitiation, type WireAccount, withoutName } from "../consents/initiation.ts";
import { wireDateTime } from "../kernel/clock.ts";
import { MAX_STATUS_REASON_CHARACTERS } from "../profile.ts";
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
    StatusReason: z.string().max(MAX_STATUS_REASON_CHARACTERS).optional().openapi({
      description:
        "Why the bank rejected the payment, as the bank reported it; only with the status Rejected. If " +
        "the bank gave an ISO 20022 status reason code, the text begins with the code, a colon and a space. " +
        "Text of another party: escape it before you show it.",
      example: "AM04: Insufficient funds",
    }),
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

/** A payment as its TPP sees it: the account for a refund only if it asked for that, the payer's name only in there. */
export function representPayment(payment: Payment, baseUrl: string): object {
  return {
    Data: {
      DomesticPaymentId: payment.id,
      ConsentId: payment.consentId,
      CreationDateTime: wireDateTime(payment.createdAt),
      Status: payment.status,
      StatusUpdateDateTime: wireDateTime(payment.statusUpdatedAt),
      ...(payment.statusReason === undefined ? {} : { StatusReason: payment.statusReason }), // Decision G6
      ...(payment.readRefundAccount ? { Refund: { Account: refundAccount(payment) } } : {}), // Decision C9
      Charges: payment.charges,
      Initiation: paidInitiation(payment.initiation),
    },
    Links: { Self: `${baseUrl}/${payment.bank}/domestic-payments/v1/${payment.id}` },
    Meta: {},
  };
}

/** With the payer's name if the TPP has named it, and no other (Decision G4). */
function refundAccount({ debtorAccount, initiation }: Payment): WireAccount {
  const name = initiation.DebtorAccount?.Name;
  return { ...withoutName(debtorAccount), ...(name === undefined ? {} : { Name: name }) };
}
