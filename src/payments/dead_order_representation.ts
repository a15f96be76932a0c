/** Orders that were given up, as the operator reads them: enough to talk to the bank about, nothing of the customer. */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../kernel/clock.ts";
import type { Payment } from "./payment.ts";
import type { PaymentOrder } from "./payment_order.ts";

const deadOrderSchema = z.object({
  DomesticPaymentId: z.uuid(),
  BankId: z.string(),
  State: z.literal("dead"),
  PushFailures: z.int(),
  LastFailure: z.string().optional(),
  BankText: z.string().max(256).optional().openapi({ description: "What the bank wrote with its 4xx." }),
  GivenUpDateTime: z.string(),
  CreationDateTime: z.string(),
  InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
});

/** A page of them. */
export const deadOrdersSchema = z.object({
  Data: z.object({ PaymentOrder: z.array(deadOrderSchema), After: z.uuid().optional() }),
});

/** An order with its payment. */
export interface DeadOrder {
  readonly order: PaymentOrder;
  readonly payment: Payment;
}

/** A page; `after` is where the next one starts, absent at the end. */
export function representDeadOrders(
  orders: readonly DeadOrder[],
  after: string | undefined,
): z.infer<typeof deadOrdersSchema> {
  const listed = orders.map(({ order, payment }) => ({
    DomesticPaymentId: order.paymentId,
    BankId: order.bank,
    State: "dead" as const,
    PushFailures: order.failures,
    ...(order.lastFailure === undefined ? {} : { LastFailure: order.lastFailure }),
    ...(order.bankText === undefined ? {} : { BankText: order.bankText }),
    GivenUpDateTime: wireDateTime(order.dueAt),
    CreationDateTime: wireDateTime(payment.createdAt),
    InstructedAmount: payment.initiation.InstructedAmount,
  }));
  return { Data: { PaymentOrder: listed, ...(after === undefined ? {} : { After: after }) } };
}
