/**
 * Delivers due orders in one walk per bank, so that neither a backlog nor a slow bank delays another bank's orders.
 * It runs every second, in any number of processes.
 */
import { isStoreFailure } from "../../base/kernel/api_error.ts";
import type { BankCode } from "../../base/kernel/identifiers.ts";
import { deliverDue, type DeliverOrderDeps } from "./deliver_order.ts";
import type { DueOrder } from "./order_outbox_store.ts";
import { isDue } from "./payment_order.ts";

/** Number of due orders that a walk reads at a time. */
const PAGE = 50;
/** Bounds a walk. The next one starts a second later. */
const MAX_PAGES = 200;
const MAX_BANKS = 10_000;

/**
 * Delivers the due orders, except those of banks with a walk under way.
 *
 * @returns the number of pushed orders, with any result
 */
export async function deliverDueOrders(deps: DeliverOrderDeps): Promise<number> {
  const pushed = await Promise.all(await startWalks(deps, () => false));
  return pushed.reduce((sum, count) => sum + count, 0);
}

/**
 * Starts the delivery of due orders without waiting for the banks. {@link DeliverOrderDeps.underWay} contains the
 * unfinished deliveries. After `isStopped` no further order is taken.
 *
 * @returns the number of banks with due orders
 */
export async function startDueOrders(deps: DeliverOrderDeps, isStopped: () => boolean): Promise<number> {
  const walks = await startWalks(deps, isStopped);
  for (const walk of walks) {
    const ended: Promise<void> = walk.then(() => {}, (error: Error) => {
      if (!isStoreFailure(error)) deps.log.error("work.failed", { error: error.stack ?? error.message });
    }).finally(() => void deps.underWay.delete(ended));
    deps.underWay.add(ended);
  }
  return walks.length;
}

async function startWalks(deps: DeliverOrderDeps, isStopped: () => boolean): Promise<Promise<number>[]> {
  await deps.outbox.requeue();
  const banks = await banksWithDueOrders(deps); // before the first walk: if this fails, no walk is left without its caller
  return banks.filter((bank) => !deps.walking.has(bank)).map((bank) => walk(deps, bank, isStopped));
}

async function banksWithDueOrders(deps: DeliverOrderDeps): Promise<BankCode[]> {
  const now = deps.steady();
  const banks: BankCode[] = [];
  let queue = await deps.outbox.nextQueue(undefined);
  for (let count = 0; queue !== undefined && count < MAX_BANKS; count++) {
    const { bank, dueAt } = queue;
    if (isDue(dueAt, now) || (await deps.outbox.due(bank, now, 1)).length > 0) banks.push(bank);
    queue = await deps.outbox.nextQueue(bank);
  }
  return banks;
}

/**
 * Resolves when the pushes have ended. The bank's next walk may start earlier, when this one has reached the end of
 * its list.
 */
async function walk(deps: DeliverOrderDeps, bank: BankCode, isStopped: () => boolean): Promise<number> {
  const pushes: Promise<boolean>[] = [];
  let isOver = isStopped; // also over if the store fails, because no order can be leased then
  const overAfter = (error: unknown): false => {
    if (!isStoreFailure(error)) throw error;
    isOver = () => true;
    return false;
  };
  deps.walking.add(bank);
  try {
    let after: DueOrder | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const due = await deps.outbox.due(bank, deps.steady(), PAGE, after);
      for (const { paymentId } of due) {
        const free = await deps.slots.take(bank);
        if (isOver()) {
          free();
          break;
        }
        pushes.push(deliverDue(deps, paymentId).catch(overAfter).finally(free));
      }
      if (due.length < PAGE || isOver()) break;
      after = due.at(-1); // continues after orders that fail
    }
  } finally {
    deps.walking.delete(bank);
    await Promise.all(pushes); // also if the store failed: the process may only stop after them
  }
  return (await Promise.all(pushes)).filter((pushed) => pushed).length;
}
