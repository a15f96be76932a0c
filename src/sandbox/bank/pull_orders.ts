/**
 * Pulls the bank's orders from the platform every few seconds (Decision D2) and executes new ones. Pulling alone
 * delivers every order; pushes only deliver faster. Both execute through the same ledger.
 */
import { z } from "zod";
import type { Bank } from "./bank.ts";
import type { FaultName } from "./faults.ts";
import type { Schedule } from "./settlement.ts";
import { orderDataSchema, orderOf } from "./payment_order.ts";
import { listOrders, reportStatus } from "./platform_client.ts";
import { takeOrder } from "./take_order.ts";

/** The puller of one bank. */
export interface OrderPuller {
  /** Cancels the next round. A round under way completes. */
  readonly stop: () => void;
}

const pulledSchema = orderDataSchema.extend({ Status: z.string() });

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
  let after = await bank.ledger.pulledUpTo();
  let isComplete = true;
  let asked: string | undefined;
  do {
    asked = after;
    const page = await listOrders(bank.platform, after);
    for (const order of page.orders) isComplete = await take(bank, order) && isComplete;
    after = page.after;
    if (after !== undefined && isComplete) await bank.ledger.notePulledUpTo(after);
  } while (after !== undefined && after !== asked); // else the orders behind it are too young: the next round asks again
}

/** Faults with which the bank does not take the order at all. */
const NOT_TAKEN: ReadonlySet<FaultName> = new Set([
  "server_error",
  "reset",
  "wrong_status",
  "no_json",
  "not_found",
]);

/** Returns false if the order must be pulled again. A failed order does not stop the others. */
async function take(bank: Bank, listed: unknown): Promise<boolean> {
  try {
    const data = pulledSchema.parse(listed);
    if (data.Status !== "Pending" && data.Status !== "AcceptedSettlementInProcess") return true;
    const order = orderOf(data);
    const fault = bank.faults.foresee("push", { consentId: order.consentId, amount: order.amount.Amount });
    if (fault !== undefined && NOT_TAKEN.has(fault)) return false; // the order also fails if it is pulled
    const { answer: status, reason } = await takeOrder(bank, order, "pull");
    if (status === data.Status) return true;
    await reportStatus(bank.platform, { ...order, status, ...(reason === undefined ? {} : { reason }) });
    return true;
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    bank.log("order.not_taken", { bank: bank.profile.code, reason });
    return false;
  }
}
