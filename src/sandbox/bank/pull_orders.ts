/**
 * Pulls the bank's orders from the platform every few seconds (Decision D2) and executes new ones. Pulling alone
 * delivers every order; pushes only deliver faster. Both execute through the same ledger.
 */
import type { OrderAnswer } from "../../client/bank/orders_handler.ts";
import type { PaymentOrder } from "../../client/bank/payment_order.ts";
import { pullOrders as pullPages } from "../../client/bank/pull_orders.ts";
import type { Bank } from "./bank.ts";
import type { FaultName } from "./faults.ts";
import type { Schedule } from "./settlement.ts";
import { takeOrder } from "./take_order.ts";

/** The puller of one bank. */
export interface OrderPuller {
  /** Cancels the next round. A round under way completes. */
  readonly stop: () => void;
}

/** Starts pulling. The first round follows after one interval. */
export function startPulling(bank: Bank, everyMs: number, schedule: Schedule): OrderPuller {
  let cancel = schedule(round, everyMs);
  let stopped = false;
  async function round(): Promise<void> {
    try {
      await pullOrders(bank);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!stopped) bank.log("orders.not_pulled", { bank: bank.profile.code, reason });
    }
    if (!stopped) cancel = schedule(round, everyMs);
  }
  return {
    stop(): void {
      stopped = true;
      cancel();
    },
  };
}

/**
 * Runs one round: reads every page from the stored cursor on.
 * @throws {Error} if the platform cannot be asked
 */
export async function pullOrders(bank: Bank): Promise<void> {
  await pullPages(bank.party, {
    pulledUpTo: bank.ledger.pulledUpTo,
    notePulledUpTo: bank.ledger.notePulledUpTo,
    execute: (order) => take(bank, order),
    onFailed: (reason) => bank.log("order.not_taken", { bank: bank.profile.code, reason }),
  });
}

/** Faults with which the bank does not take the order at all. */
const NOT_TAKEN: ReadonlySet<FaultName> = new Set([
  "server_error",
  "reset",
  "wrong_status",
  "no_json",
  "not_found",
]);

async function take(bank: Bank, order: PaymentOrder): Promise<OrderAnswer | undefined> {
  const fault = bank.faults.foresee("push", {
    consentId: order.consentId,
    amount: order.initiation.InstructedAmount.Amount,
  });
  if (fault !== undefined && NOT_TAKEN.has(fault)) return undefined; // the order also fails if it is pulled
  const { answer: status, reasonCode, reason } = await takeOrder(bank, order, "pull");
  return { status, reasonCode, reason };
}
