/**
 * Pulls the bank's orders from the platform (Decision D2). Pulling alone delivers every order; pushes only deliver
 * faster. Both execute through the same ledger.
 */
import { listOrders, PlatformRejected, reportStatus } from "./back_channel.ts";
import type { Bank } from "./bank.ts";
import type { OrderAnswer } from "./orders_handler.ts";
import { openPulledOrder, type PaymentOrder } from "./payment_order.ts";

/** What a round of pulling needs of the bank. */
export interface PulledOrders {
  /** The cursor that was noted last. */
  readonly pulledUpTo: () => Promise<string | undefined>;
  readonly notePulledUpTo: (cursor: string) => Promise<void>;
  /** Executes the order once, as `OrderBook.execute` does. Undefined: not now, pull it again. */
  readonly execute: (order: PaymentOrder) => Promise<OrderAnswer | undefined>;
  /**
   * Why an order could not be taken, for the bank's log. It is pulled again, unless the platform has rejected its report
   * for good (400, 404), and does not stop the others.
   */
  readonly onFailed?: (reason: string) => void;
}

/**
 * Runs one round: reads every page from the noted cursor on, executes what is open, and reports each answer. Call it
 * every few seconds, one round at a time.
 *
 * @throws {PlatformRejected | Error} if the platform cannot be asked
 */
export async function pullOrders(bank: Bank, pulled: PulledOrders): Promise<void> {
  let after = await pulled.pulledUpTo();
  let isComplete = true;
  let asked: string | undefined;
  do {
    asked = after;
    const page = await listOrders(bank, after);
    for (const order of page.orders) isComplete = await take(bank, pulled, order) && isComplete;
    after = page.after;
    if (after !== undefined && isComplete) await pulled.notePulledUpTo(after);
  } while (after !== undefined && after !== asked); // else the orders behind it are too young: the next round asks again
}

/** Returns false if the order must be pulled again. */
async function take(bank: Bank, { execute, onFailed }: PulledOrders, listed: unknown): Promise<boolean> {
  try {
    const { order, status } = openPulledOrder(listed);
    if (status !== "Pending" && status !== "AcceptedSettlementInProcess") return true;
    const answer = await execute(order);
    if (answer === undefined) return false;
    if (answer.status === status) return true;
    await reportStatus(bank, { domesticPaymentId: order.domesticPaymentId, ...answer });
    return true;
  } catch (error) {
    onFailed?.(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    // The same report would be rejected in every round, whose pages would become more and more.
    return error instanceof PlatformRejected && (error.status === 400 || error.status === 404);
  }
}
