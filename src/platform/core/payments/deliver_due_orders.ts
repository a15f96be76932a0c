/**
 * Delivers due orders in one walk per bank, so that neither a backlog nor a slow bank delays another bank's orders.
 * It runs every second, in any number of processes, which share the orders by taking batches in a random order.
 */
import { isStoreFailure } from "../../../base/kernel/api_error.ts";
import { asPaymentId, type BankCode, type PaymentId } from "../../../base/kernel/identifiers.ts";
import { allEnded, errorText, inRandomBatches } from "../../../base/kernel/batches.ts";
import { type DeliverOrderDeps, deliverTaken } from "./deliver_order.ts";
import type { DueOrder } from "./order_outbox_store.ts";
import { leaseOrders } from "./lease_orders.ts";

/** Number of due orders that a walk reads at a time, oldest first. Within a page their order is random. */
const PAGE = 200;
/** Number of orders that are leased in one commit. A batch must stay short for the requests that wait for it. */
const BATCH = 20;
/** Bounds a walk. The next one starts a second later. */
const MAX_PAGES = 50;

/**
 * Delivers the due orders, except those of banks with a walk under way.
 *
 * @returns the number of pushed orders, with any result
 */
export async function deliverDueOrders(deps: DeliverOrderDeps): Promise<number> {
  const pushed = await allEnded(await startWalks(deps, () => false));
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
      if (!isStoreFailure(error)) deps.log.error("work.failed", { error: errorText(error) });
    }).finally(() => void deps.underWay.delete(ended));
    deps.underWay.add(ended);
  }
  return walks.length;
}

async function startWalks(deps: DeliverOrderDeps, isStopped: () => boolean): Promise<Promise<number>[]> {
  const banks = await deps.dueBanks.find(deps.clock()); // before the first walk: if this fails, no walk is left without its caller
  return banks.filter((bank) => !deps.walking.has(bank)).map((bank) => walk(deps, bank, isStopped));
}

/**
 * Resolves when the pushes have ended. The bank's next walk may start earlier, when this one has reached the end of
 * its list.
 */
async function walk(deps: DeliverOrderDeps, bank: BankCode, isStopped: () => boolean): Promise<number> {
  const state: Walk = { bank, isStopped, isStoreFailing: false, pushes: [] };
  deps.walking.add(bank);
  try {
    await walkPages(deps, state);
  } catch (error) {
    noteFailure(state, error);
  } finally {
    deps.walking.delete(bank);
    await Promise.allSettled(state.pushes); // also after a failure: the process may only stop after them
  }
  return (await Promise.all(state.pushes)).filter((pushed) => pushed).length;
}

interface Walk {
  readonly bank: BankCode;
  readonly isStopped: () => boolean;
  /** Set after a failure of the store, because no order can be leased then. */
  isStoreFailing: boolean;
  readonly pushes: Promise<boolean>[];
}

function isOver({ isStopped, isStoreFailing }: Walk): boolean {
  return isStoreFailing || isStopped();
}

function noteFailure(walk: Walk, error: unknown): false {
  if (!isStoreFailure(error)) throw error;
  walk.isStoreFailing = true;
  return false;
}

/** Orders that the stored times call not due yet only because this process's clock was put back since. */
function waitedFor({ clock, steady, memory }: DeliverOrderDeps, bank: BankCode): readonly PaymentId[] {
  return clock() < steady() ? memory.waitedFor(bank).flatMap((id) => asPaymentId(id) ?? []) : [];
}

async function walkPages(deps: DeliverOrderDeps, walk: Walk): Promise<void> {
  const waited = waitedFor(deps, walk.bank).slice(0, PAGE);
  for (const batch of inRandomBatches(waited, BATCH, deps.random)) await pushBatch(deps, walk, batch);
  let after: DueOrder | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const due = await deps.outbox.due(walk.bank, deps.clock(), PAGE, after);
    const ids = due.map(({ paymentId }) => paymentId);
    for (const batch of inRandomBatches(ids, BATCH, deps.random)) await pushBatch(deps, walk, batch);
    if (due.length < PAGE || isOver(walk)) return;
    after = due.at(-1); // continues after orders that fail
  }
}

/** Takes as many orders as there are free slots, because an order that waits for a slot uses up its lease. */
async function pushBatch(deps: DeliverOrderDeps, walk: Walk, batch: readonly PaymentId[]): Promise<void> {
  for (let start = 0; start < batch.length && !isOver(walk);) {
    const slots = [await deps.slots.take(walk.bank)];
    for (let free; start + slots.length < batch.length && (free = deps.slots.takeFree(walk.bank));) {
      slots.push(free);
    }
    const ids = isOver(walk) ? [] : batch.slice(start, start + slots.length);
    let taken: Awaited<ReturnType<typeof leaseOrders>> = [];
    try {
      taken = await leaseOrders(deps, ids);
    } catch (error) {
      noteFailure(walk, error);
    } finally {
      for (const free of slots.slice(taken.length)) free();
    }
    taken.forEach((entry, index) => {
      walk.pushes.push(
        deliverTaken(deps, entry).catch((error) => noteFailure(walk, error)).finally(slots[index]),
      );
    });
    start += slots.length;
  }
}
