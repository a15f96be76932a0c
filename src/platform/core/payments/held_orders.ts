/**
 * Held orders: the bank must not get them now, because it is not active (Decision G5) or the store was restored
 * (Decision G9). They are not in the queue of due orders, and go back into it when the bank may have them again.
 */
import { errorText, handleBatch, inRandomBatches } from "../../../base/kernel/batches.ts";
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { FiguresRecorder } from "../../observed/figures/recorder.ts";
import type { Log } from "../../observed/log_events.ts";
import type { Entry } from "../../../base/store/store.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import type { OrderOutboxStore } from "./order_outbox_store.ts";
import type { PaymentStore } from "./payment_store.ts";
import { type DeadOrder, heldBack, type LeasedOrder, resumeOrder, whyDead } from "./payment_order.ts";

export interface HeldOrderDeps extends TransactDeps {
  readonly figures: Pick<FiguresRecorder, "order">;
  readonly log: Log;
  readonly outbox: OrderOutboxStore;
  readonly payments: PaymentStore;
  readonly whyHeld: (bank: BankCode) => Promise<string | undefined>;
  /** Returns 0 to less than 1, for the order of batches. */
  readonly random: () => number;
}

/** Limit of one bank's orders that go back into the queue in one pass. About as many are pushed in one pass. */
const PAGE = 100;
/** Number of orders that go back in one commit. */
const BATCH = 20;
const MAX_BANKS = 10_000;

/** Holds the order without counting a failure. Leaves it unchanged if another process has changed it. */
export async function holdBack(deps: HeldOrderDeps, entry: Entry<LeasedOrder>, why: string): Promise<void> {
  const { paymentId, bank } = entry.value;
  const now = deps.clock();
  const held = { at: now, event: "payment_order.held", actor: "platform", reason: why };
  const isHeld = await transact(deps, { what: "held order", lost: () => false }, async (tx) => {
    deps.outbox.stageChange(tx, entry, heldBack(entry.value, why, now));
    await deps.payments.stageNote(tx, paymentId, held);
    return true;
  });
  if (isHeld) deps.log.warn("order.held", { paymentId, bank, why });
}

/**
 * Puts held orders back into the queue if their bank may have them again, up to a batch per bank.
 *
 * @returns the number of orders looked at
 */
export async function resumeHeldOrders(deps: HeldOrderDeps): Promise<number> {
  let looked = 0;
  let bank = await deps.outbox.nextHeldBank(undefined);
  for (let count = 0; bank !== undefined && count < MAX_BANKS; count++) {
    if (await deps.whyHeld(bank) === undefined) {
      const ids = await deps.outbox.heldOf(bank, PAGE);
      for (const batch of inRandomBatches(ids, BATCH, deps.random)) await resumeAll(deps, batch);
      looked += ids.length;
    }
    bank = await deps.outbox.nextHeldBank(bank);
  }
  return looked;
}

async function resumeAll(deps: HeldOrderDeps, ids: readonly PaymentId[]): Promise<void> {
  await handleBatch(ids, (some) => resume(deps, some), (paymentId, error) => {
    deps.log.error("order.not_resumed", { paymentId, error: errorText(error) });
  });
}

async function resume(deps: HeldOrderDeps, ids: readonly PaymentId[]): Promise<void> {
  const givenUp = await transact(deps, { what: "held orders" }, async (tx) => {
    const entries = await Promise.all(ids.map((id) => deps.outbox.find(tx, id)));
    const at = deps.clock();
    const dead = await Promise.all(entries.map(async (entry): Promise<DeadOrder | []> => {
      if (entry?.value.state !== "held") return []; // another worker was faster
      const order = resumeOrder(entry.value, at);
      deps.outbox.stageChange(tx, entry, order);
      const noted = order.state === "dead"
        ? { event: "payment_order.dead", reason: whyDead(order) }
        : { event: "payment_order.resumed" };
      await deps.payments.stageNote(tx, order.paymentId, { at, actor: "platform", ...noted });
      return order.state === "dead" ? order : [];
    }));
    return dead.flat();
  });
  for (const order of givenUp) reportDead(deps, order);
}

/** Counts and logs an order that was given up. */
export function reportDead(
  { figures, log }: Pick<HeldOrderDeps, "figures" | "log">,
  { paymentId, bank, failures, lastFailure: why = "" }: DeadOrder,
): void {
  figures.order(bank, "givenUp");
  log.error("order.dead", { paymentId, bank, failures, why });
}
