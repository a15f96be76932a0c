/** Executes an order once and starts its settlement, whether it was pushed or pulled. */
import type { BankReasonCode } from "../../client/party/reason_codes.ts";
import type { Bank } from "./bank.ts";
import type { OrderOutcome, RejectionReason } from "./ledger.ts";
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
  const subject = { consentId: order.consentId, amount: order.initiation.InstructedAmount.Amount };
  const outcome = await ledger.execute(
    order,
    () => rejectionOf(faults.meet("execution", subject)?.reasonCode),
  );
  const { answer, isNew } = outcome;
  if (isNew || by === "push") {
    log("order.received", { bank: profile.code, id: order.domesticPaymentId, by, answer, isNew });
  }
  if (isNew && answer !== "Rejected") settlement.begin(order.domesticPaymentId);
  return outcome;
}

/** This bank says no more than the code, except for the usual fault. */
function rejectionOf(reasonCode: BankReasonCode | undefined): RejectionReason | undefined {
  if (reasonCode === undefined) return undefined;
  return reasonCode === "AC04" ? { reasonCode, reason: "The account is closed" } : { reasonCode };
}
