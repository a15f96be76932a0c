/** Executes an order once and starts its settlement, whether it was pushed or pulled. */
import type { Bank } from "./bank.ts";
import type { OrderOutcome } from "./ledger.ts";
import type { PaymentOrder } from "../../client/bank/payment_order.ts";

/** Returns the first result, also for a repeated order. */
export async function takeOrder(
  { ledger, settlement, faults, profile, log }: Pick<
    Bank,
    "ledger" | "settlement" | "faults" | "profile" | "log"
  >,
  order: PaymentOrder,
  by: "push" | "pull",
): Promise<OrderOutcome> {
  const subject = { consentId: order.consentId, amount: order.amount.Amount };
  const outcome = await ledger.execute(
    order,
    () => faults.meet("execution", subject) === undefined ? undefined : "AC04: The account is closed",
  );
  const { answer, isNew } = outcome;
  if (isNew || by === "push") {
    log("order.received", { bank: profile.code, id: order.domesticPaymentId, by, answer, isNew });
  }
  if (isNew && answer !== "Rejected") settlement.begin(order.domesticPaymentId);
  return outcome;
}
