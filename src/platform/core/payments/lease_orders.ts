/** Leases due orders for the pushes of this process. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { PaymentId } from "../../../base/kernel/identifiers.ts";
import { errorText, handleBatch } from "../../../base/kernel/batches.ts";
import type { Log } from "../../observed/log_events.ts";
import { openRequestReads } from "../../../base/store/request_reads.ts";
import type { Entry } from "../../../base/store/store.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import type { OrderOutboxStore } from "./order_outbox_store.ts";
import type { PushMemory } from "../../events/delivery/push_memory.ts";
import { isDue } from "../../events/delivery/retry_delays.ts";
import {
  isQueued,
  isSameLease,
  type LeasedOrder,
  leaseOrder,
  type PaymentOrder,
  type WaitingOrder,
} from "./payment_order.ts";

export interface LeaseOrdersDeps extends TransactDeps {
  readonly memory: PushMemory;
  readonly log: Log;
  readonly outbox: OrderOutboxStore;
}

/**
 * Leases, in one commit, those of the orders that are still due. Another worker's orders, and those that are no longer
 * open, are left out. An order that cannot be read is logged.
 *
 * @throws {ApiError} `store.unavailable`
 */
export async function leaseOrders(
  deps: LeaseOrdersDeps,
  ids: readonly PaymentId[],
): Promise<readonly Entry<LeasedOrder>[]> {
  const leased = await handleBatch(ids, (some) => lease(deps, some), (paymentId, error) => {
    deps.log.error("order.delivery_failed", { paymentId, error: errorText(error) });
  });
  return leased.flat();
}

async function lease(
  deps: LeaseOrdersDeps,
  ids: readonly PaymentId[],
): Promise<readonly Entry<LeasedOrder>[]> {
  const leases = await transact(deps, { what: "due orders" }, async (tx) => {
    const entries = await Promise.all(ids.map((id) => deps.outbox.find(tx, id)));
    const now = deps.clock();
    return entries.flatMap((entry) => {
      if (entry === null || !isQueued(entry.value) || !mayLease(deps, entry.value, now)) return [];
      const { dueAt } = entry.value;
      deps.memory.noteDueAt(dueAt, now);
      const leased = leaseOrder(entry.value, now);
      deps.outbox.stageChange(tx, entry, leased);
      return leased;
    });
  });
  const reads = openRequestReads(deps.store);
  const found = await Promise.all(leases.map(({ paymentId }) => deps.outbox.find(reads, paymentId)));
  return found.flatMap((entry, index) => {
    const lease = leases[index];
    return entry !== null && lease !== undefined && hasLease(entry, lease) ? entry : [];
  });
}

function mayLease({ memory }: LeaseOrdersDeps, order: WaitingOrder | LeasedOrder, now: WallTime): boolean {
  const { paymentId, dueAt, failures, state } = order;
  if (state === "waiting" && memory.hasWaited(paymentId, failures)) return true;
  return isDue(dueAt, now) && memory.waitsUntil(paymentId, failures) === undefined;
}

/** Whether the order's entry still has the lease. */
export function hasLease(entry: Entry<PaymentOrder>, own: LeasedOrder): entry is Entry<LeasedOrder> {
  return isSameLease(entry.value, own);
}
