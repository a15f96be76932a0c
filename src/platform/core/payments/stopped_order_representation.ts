/**
 * Dead and held orders for the operator, with the data needed to ask the bank about them and no data of the customer.
 */
import { z } from "@hono/zod-openapi";
import { toWire } from "../../guards/http/wire_names.ts";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import { plainText } from "../../guards/security/operation_body.ts";
import type { Payment } from "./payment.ts";
import type { DeadOrder, HeldOrder } from "./payment_order.ts";

const orderSchema = z.object({
  DomesticPaymentId: z.uuid(),
  BankId: z.string(),
  PushFailures: z.int(),
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
type StoppedOrderOnWire = z.infer<typeof deadOrderSchema> | z.infer<typeof heldOrderSchema>;

/** Schema of a dead or held order. */
export const stoppedOrderSchema = z.union([deadOrderSchema, heldOrderSchema]);

/** Schema of a page of dead or held orders. */
export const stoppedOrdersSchema = z.object({
  Data: z.object({
    PaymentOrder: z.array(stoppedOrderSchema),
    After: z.string().optional(),
  }),
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

export interface StoppedOrder {
  readonly order: DeadOrder | HeldOrder;
  readonly payment: Payment;
}

/** Represents a page. `after` is where the next one starts; absent at the end. */
export function representStoppedOrders(
  orders: readonly StoppedOrder[],
  after: string | undefined,
): z.infer<typeof stoppedOrdersSchema> {
  return { Data: { PaymentOrder: orders.map(represent), ...(after === undefined ? {} : { After: after }) } };
}

function represent({ order, payment }: StoppedOrder): StoppedOrderOnWire {
  return {
    DomesticPaymentId: order.paymentId,
    BankId: order.bank,
    PushFailures: order.failures,
    MayBeAtBank: order.mayBeAtBank,
    ...(order.lastFailure === undefined ? {} : { LastFailure: order.lastFailure }),
    ...(order.bankText === undefined ? {} : { BankText: order.bankText }),
    CreationDateTime: wireDateTime(payment.createdAt),
    InstructedAmount: toWire(payment.initiation.instructedAmount),
    ...(order.state === "dead"
      ? { State: "dead", GivenUpDateTime: wireDateTime(order.diedAt) }
      : { State: "held", HeldBecause: order.why, HeldSinceDateTime: wireDateTime(order.heldAt) }),
  };
}
