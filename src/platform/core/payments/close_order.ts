/**
 * Closes a dead order at an operator's request (Decision O3): the payment becomes `Rejected` and the order leaves the
 * outbox, in one commit. The bank's word counts more: what it reports later is recorded.
 */
import { asPaymentId } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Log } from "../../observed/log_events.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import type { OrderOutboxStore } from "./order_outbox_store.ts";
import { isLegalMove, type Payment, reasonOfClosing } from "./payment.ts";
import type { PaymentStore } from "./payment_store.ts";

export interface CloseOrderDeps extends TransactDeps {
  readonly log: Log;
  readonly outbox: OrderOutboxStore;
  readonly payments: PaymentStore;
}

export interface CloseOrder {
  readonly paymentIdText: string;
  /** `operator <name>`. */
  readonly operator: string;
  /** For the history. */
  readonly reason: string;
  /** For the TPP and its customer. */
  readonly statusReason: string;
  /** Whether the operator knows that the bank may have taken the order. */
  readonly mayBeAtBank: boolean;
}

/**
 * Returns the rejected payment. Of parallel calls one succeeds.
 *
 * @throws {ApiError} `operations.order_unknown`, `operations.order_not_dead`, `operations.order_may_be_at_bank`
 */
export async function closeOrder(deps: CloseOrderDeps, command: CloseOrder): Promise<Payment> {
  const id = asPaymentId(command.paymentIdText);
  const closed = await transact(deps, { what: "order" }, async (tx) => {
    const [order, payment] = id === undefined
      ? [null, null]
      : await Promise.all([deps.outbox.find(tx, id), deps.payments.find(tx, id)]);
    if (order === null || payment === null) throw new ApiError("operations.order_unknown");
    if (order.value.state !== "dead") throw new ApiError("operations.order_not_dead");
    if (order.value.mayBeAtBank && !command.mayBeAtBank) {
      throw new ApiError("operations.order_may_be_at_bank");
    }
    if (!isLegalMove(payment.value.status, "Rejected")) throw new ApiError("operations.conflict");
    const now = deps.clock();
    const changed: Payment = {
      ...payment.value,
      status: "Rejected",
      ...reasonOfClosing(command.statusReason),
      closedAt: now,
      statusUpdatedAt: Math.max(now, payment.value.statusUpdatedAt),
    };
    deps.outbox.stageDelivery(tx, order);
    const reason = order.value.mayBeAtBank
      ? `${command.reason} (the bank may have the order)`
      : command.reason;
    deps.payments.stageChange(tx, payment, changed, { actor: command.operator, reason }, now);
    return changed;
  });
  deps.log.warn("order.closed", { paymentId: closed.id, bank: closed.bank, by: command.operator });
  return closed;
}
