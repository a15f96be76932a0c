/** Payment orders as banks receive them (Decision D2), pushed and fetched: the full initiation and the account that pays. */
import { z } from "@hono/zod-openapi";
import { orderedInitiationSchema, wireDateTimeSchema } from "../consents/initiation_representation.ts";
import { debtorAccountSchema } from "../consents/initiation_schema.ts";
import { issuedClaims, type JwtKind } from "../../guards/http/jwt_schema.ts";
import { currencyCode, toWire } from "../../guards/http/wire_fields.ts";
import { chargeSchema, representStatus } from "./payment_representation.ts";
import { PAYMENT_STATUSES, type ReadablePayment } from "./payment.ts";

const payingAccountSchema = z.strictObject({
  ...debtorAccountSchema.shape,
  Currency: currencyCode().optional().openapi({
    description: "Only if the payer chose an account in another currency than the payment's.",
  }),
}).openapi("PayingAccount");

const orderSchema = z.strictObject({
  DomesticPaymentId: z.uuid(),
  ConsentId: z.uuid(),
  CreationDateTime: wireDateTimeSchema,
  Status: z.enum(PAYMENT_STATUSES),
  StatusUpdateDateTime: wireDateTimeSchema,
  Initiation: orderedInitiationSchema,
  DebtorAccount: payingAccountSchema,
  Charges: z.array(chargeSchema),
}).openapi("PaymentOrderData");

/** Schema of one order, for the OpenAPI document. */
export const paymentOrderSchema = z.strictObject({ Data: orderSchema }).openapi("PaymentOrder");

const orderClaimsSchema = z.strictObject({
  ...issuedClaims,
  tpp: z.strictObject({
    client_id: z.string(),
    read_refund_account: z.boolean().openapi({
      description: "Whether the TPP asked for the account of a refund.",
    }),
  }),
  Data: orderSchema,
});

/** An order as it is pushed. */
export const ORDER_JWT: JwtKind = { name: "PaymentOrderClaims", typ: "JWT", claims: orderClaimsSchema };

/** Schema of a page of orders, for the OpenAPI document. */
export const paymentOrdersSchema = z.strictObject({
  Data: z.strictObject({
    PaymentOrder: z.array(orderSchema),
    After: z.string().optional().openapi({ description: "Where the next page starts; absent at the end." }),
  }),
}).openapi("PaymentOrders");

export function representOrder(payment: ReadablePayment): { Data: object } {
  return {
    Data: {
      ...representStatus(payment),
      Initiation: toWire(payment.initiation),
      DebtorAccount: toWire(payment.debtorAccount),
      Charges: toWire(payment.charges),
    },
  };
}

type OrderClaims = z.infer<typeof orderClaimsSchema>;

/** Represents the claims of a pushed order. */
export function representOrderClaims(
  payment: ReadablePayment,
  issued: Pick<OrderClaims, "iss" | "iat" | "exp" | "jti">,
): Omit<OrderClaims, "Data"> & { Data: object } {
  return {
    ...issued,
    aud: payment.bank,
    tpp: { client_id: payment.clientId, read_refund_account: payment.readRefundAccount },
    ...representOrder(payment),
  };
}

/** Represents a page of orders. `after` is where the next page starts; absent at the end. */
export function representOrders(orders: readonly ReadablePayment[], after: string | undefined): object {
  const listed = orders.map((payment) => representOrder(payment).Data);
  return { Data: { PaymentOrder: listed, ...(after === undefined ? {} : { After: after }) } };
}
