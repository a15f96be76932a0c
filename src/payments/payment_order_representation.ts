/** Payment orders as the bank reads them (Decision D2): the full initiation and the account that pays. */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../kernel/clock.ts";
import type { Payment } from "./payment.ts";
import type { PaymentOrderRef } from "./payment_store.ts";

/** One order, for the OpenAPI document. */
export const paymentOrderSchema = z.object({
  Data: z.object({
    DomesticPaymentId: z.uuid(),
    ConsentId: z.uuid(),
    CreationDateTime: z.string(),
    Status: z.string(),
    StatusUpdateDateTime: z.string(),
    Initiation: z.object({}),
    DebtorAccount: z.object({
      SchemeName: z.string(),
      Identification: z.string(),
      Name: z.string().optional(),
    }),
    Charges: z.array(z.object({})),
  }),
}).openapi("PaymentOrder");

/** A page of orders, for the OpenAPI document. */
export const paymentOrdersSchema = z.object({
  Data: z.object({ PaymentOrder: z.array(paymentOrderSchema.shape.Data), After: z.string().optional() }),
}).openapi("PaymentOrders");

/** One order. */
export function representOrder(payment: Payment): { Data: object } {
  return {
    Data: {
      DomesticPaymentId: payment.id,
      ConsentId: payment.consentId,
      CreationDateTime: wireDateTime(payment.createdAt),
      Status: payment.status,
      StatusUpdateDateTime: wireDateTime(payment.statusUpdatedAt),
      Initiation: payment.initiation,
      DebtorAccount: payment.debtorAccount,
      Charges: payment.charges,
    },
  };
}

/** A page of orders; `after` is where the next page starts, absent at the end. */
export function representOrders(orders: readonly PaymentOrderRef[], after: string | undefined): object {
  const listed = orders.map(({ payment }) => representOrder(payment).Data);
  return { Data: { PaymentOrder: listed, ...(after === undefined ? {} : { After: after }) } };
}
