/** Retries a dead order at an operator's request (Decision D4). The bank still identifies it by its id. */
import { asPaymentId } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import type { OrderOutboxStore } from "./order_outbox_store.ts";
import type { PaymentStore } from "./payment_store.ts";
import { type PaymentOrder, retryOrder } from "./payment_order.ts";

export interface RedriveOrderDeps extends TransactDeps {
  readonly outbox: OrderOutboxStore;
  readonly payments: PaymentStore;
}

/**
 * Returns the order, due at once and with all retries ahead. Of parallel calls one succeeds.
 *
 * @throws {ApiError} `operations.order_unknown`, `operations.order_not_dead`
 */
export async function redriveOrder(
  deps: RedriveOrderDeps,
  command: { readonly paymentIdText: string; readonly operator: string },
): Promise<PaymentOrder> {
  const id = asPaymentId(command.paymentIdText);
  return await transact(deps, { what: "order" }, async (tx) => {
    const entry = id === undefined ? null : await deps.outbox.find(tx, id);
    if (entry === null) throw new ApiError("operations.order_unknown");
    if (entry.value.state !== "dead") throw new ApiError("operations.order_not_dead");
    const now = deps.clock();
    const order = retryOrder(entry.value, now);
    deps.outbox.stageChange(tx, entry, order);
    await deps.payments.stageNote(tx, order.paymentId, {
      at: now,
      event: "payment_order.redriven",
      actor: command.operator,
      reason: "asked for",
    });
    return order;
  });
}
