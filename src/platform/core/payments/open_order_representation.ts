/**
 * Orders without an answer for the operator, with the data needed to ask the bank about them and no data of the customer.
 */
import { z } from "@hono/zod-openapi";
import { tppMember, tppName } from "../../guards/http/operation_answers.ts";
import { toWire } from "../../guards/http/wire_fields.ts";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import { plainText } from "../../guards/security/operation_body.ts";
import type { Payment } from "./payment.ts";
import type { PaymentOrder } from "./payment_order.ts";

const orderSchema = z.object({
  DomesticPaymentId: z.uuid(),
  BankId: z.string(),
  ClientId: z.string().openapi({ description: "The software of the TPP that made the payment." }),
  Tpp: tppName,
  PushFailures: z.int().openapi({ description: "Pushes that failed since the order was last tried again." }),
  LastFailure: z.string().optional(),
  MayBeAtBank: z.boolean().openapi({
    description: "False if the bank has rejected every push with a 4xx other than 409, or got none. " +
      "A later answer does not make it false again.",
  }),
  BankText: z.string().max(256).optional().openapi({ description: "What the bank wrote with its 4xx." }),
  CreationDateTime: z.string(),
  InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
});
const deadOrderSchema = orderSchema.extend({ State: z.literal("dead"), GivenUpDateTime: z.string() });
const heldOrderSchema = orderSchema.extend({
  State: z.literal("held"),
  HeldBecause: z.string(),
  HeldSinceDateTime: z.string(),
});
const waitingOrderSchema = orderSchema.extend({
  State: z.literal("waiting"),
  NextPushDateTime: z.string().optional().openapi({ description: "Absent while it is being pushed." }),
});

/** Schema of an order without an answer. */
export const openOrderSchema = z.union([deadOrderSchema, heldOrderSchema, waitingOrderSchema]);

/** Schema of a page of orders without an answer. */
export const openOrdersSchema = z.object({
  Data: z.object({ PaymentOrder: z.array(openOrderSchema), After: z.string().optional() }),
});

/** Schema of an order that is due again. */
export const dueOrderSchema = z.strictObject({
  Data: z.strictObject({ DomesticPaymentId: z.uuid(), State: z.literal("due") }),
});

/** The reason of an operator's change, for the history. */
const reason = plainText(10, 500);

/** Schema of the request to close an order. */
export const closeOrderSchema = z.strictObject({
  Data: z.strictObject({
    Reason: reason.openapi({ description: "Why, for the history: 10 to 500 characters." }),
    StatusReason: plainText(3, 256).openapi({
      description: "For the TPP and its customer, as the payment's StatusReason.",
      example: "The bank could not be reached. No money was moved.",
    }),
    MayBeAtBank: z.boolean().optional().openapi({
      description: "True closes an order that the bank may have taken. Ask the bank first.",
    }),
  }),
}).openapi("CloseOrder");

/** Schema of a closed order. */
export const closedOrderSchema = z.strictObject({
  Data: z.strictObject({
    DomesticPaymentId: z.uuid(),
    State: z.literal("closed"),
    Status: z.literal("Rejected"),
  }),
});

export interface OpenOrder {
  readonly order: PaymentOrder;
  readonly payment: Payment;
  /** What people read for TPPs, by client id. */
  readonly names: ReadonlyMap<string, string>;
}

/** Represents a page. `after` is where the next one starts; absent at the end. */
export function representOpenOrders(
  orders: readonly OpenOrder[],
  after: string | undefined,
): z.infer<typeof openOrdersSchema> {
  return {
    Data: { PaymentOrder: orders.map(representOpenOrder), ...(after === undefined ? {} : { After: after }) },
  };
}

/** Represents one order. */
export function representOpenOrder({ order, payment, names }: OpenOrder): z.infer<typeof openOrderSchema> {
  return {
    DomesticPaymentId: order.paymentId,
    BankId: order.bank,
    ClientId: payment.clientId,
    ...tppMember(names, payment.clientId),
    PushFailures: order.failures,
    MayBeAtBank: order.mayBeAtBank,
    ...(order.lastFailure === undefined ? {} : { LastFailure: order.lastFailure }),
    ...(order.bankText === undefined ? {} : { BankText: order.bankText }),
    CreationDateTime: wireDateTime(payment.createdAt),
    InstructedAmount: toWire(payment.initiation.instructedAmount),
    ...representState(order),
  };
}

type StateOnWire =
  | Pick<z.infer<typeof deadOrderSchema>, "State" | "GivenUpDateTime">
  | Pick<z.infer<typeof heldOrderSchema>, "State" | "HeldBecause" | "HeldSinceDateTime">
  | Pick<z.infer<typeof waitingOrderSchema>, "State" | "NextPushDateTime">;

function representState(order: PaymentOrder): StateOnWire {
  switch (order.state) {
    case "dead":
      return { State: "dead", GivenUpDateTime: wireDateTime(order.diedAt) };
    case "held":
      return { State: "held", HeldBecause: order.why, HeldSinceDateTime: wireDateTime(order.heldAt) };
    case "leased":
      return { State: "waiting" };
    case "waiting":
      return { State: "waiting", NextPushDateTime: wireDateTime(order.dueAt) };
  }
}
