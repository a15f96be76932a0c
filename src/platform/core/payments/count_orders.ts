/**
 * Counts the orders that wait for their banks, for the metrics. It runs in the background, so that a scrape reads
 * memory only. Every process counts the orders of the whole database.
 */
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Store } from "../../../base/store/store.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import { pacedJob } from "../../events/delivery/paced_job.ts";
import { isDue } from "../../events/delivery/retry_delays.ts";
import type { OrderOutboxStore, OrderPlace } from "./order_outbox_store.ts";
import type { PaymentStore } from "./payment_store.ts";

export interface CountOrdersDeps {
  readonly store: Store;
  readonly outbox: OrderOutboxStore;
  readonly payments: PaymentStore;
  readonly metrics: PlatformMetrics;
  readonly clock: Clock;
  /** For the pace. */
  readonly steady: SteadyClock;
  /** The banks that are held after a restore, with its time, milliseconds. */
  readonly unreconciled: () => Promise<readonly { readonly bank: BankCode; readonly restoredAt: number }[]>;
}

/** Orders of one bank that a pass counts in each state. A larger backlog shows as this number. */
const MAX_COUNTED = 1000;
/** Orders of all banks in a state that a pass reads. A bank beyond it shows 1, so that no bank is missing. */
const MAX_READ = 20_000;
/** Payments of one bank whose age a pass reads, and of all banks. */
const AGES = { ofBank: 20, ofAll: 1000 } as const;
/** Held orders of one bank whose age a pass reads, and of all banks. */
const HELD_AGES = { ofBank: 50, ofAll: 1000 } as const;
/** Opens the job. It returns 0 at once unless a pass is due. */
export function countOrders(deps: CountOrdersDeps): () => Promise<number> {
  return pacedJob(deps.steady, () => count(deps));
}

interface Counted {
  readonly bank: string;
  readonly state: "waiting" | "due" | "retrying" | "held" | "dead";
  readonly value: number;
}

async function count(deps: CountOrdersDeps): Promise<void> {
  const { metrics } = deps;
  const { counted, ages } = await countQueues(deps);
  const held = await countHeld(deps);
  const orders = [...counted, ...held.counted, ...await countDead(deps)];
  metrics.replace(
    "platform_orders",
    orders.map(({ bank, state, value }) => ({ labels: { bank, state }, value })),
  );
  metrics.replace(
    "platform_order_oldest_age_seconds",
    ages.map(({ bank, seconds }) => ({ labels: { bank }, value: seconds })),
  );
  metrics.replace(
    "platform_order_held_age_seconds",
    held.ages.map(({ bank, seconds }) => ({ labels: { bank }, value: seconds })),
  );
  metrics.replace(
    "platform_bank_unreconciled_seconds",
    (await deps.unreconciled()).map(({ bank, restoredAt }) => ({
      labels: { bank },
      value: Math.max(0, deps.clock() - restoredAt) / 1000,
    })),
  );
  metrics.set("platform_orders_counted_timestamp_seconds", {}, deps.clock() / 1000);
}

/** Returns how many orders of the next bank a pass counts after so many. */
function countedAt(read: number): number {
  return read < MAX_READ ? MAX_COUNTED : 1;
}

interface Queues {
  readonly counted: readonly Counted[];
  readonly ages: readonly { readonly bank: string; readonly seconds: number }[];
}

async function countQueues(deps: CountOrdersDeps): Promise<Queues> {
  const counted: Counted[] = [];
  const ages: { bank: string; seconds: number }[] = [];
  let [read, aged] = [0, 0];
  let bank = await deps.outbox.nextQueue(undefined);
  while (bank !== undefined) {
    const rows = await deps.outbox.waiting(undefined, countedAt(read), bank);
    const orders = rows.flatMap(({ shown }) => shown ?? []);
    counted.push(
      { bank, state: "waiting", value: orders.length },
      { bank, state: "due", value: orders.filter(({ dueAt }) => isDue(dueAt, deps.clock())).length },
      { bank, state: "retrying", value: orders.filter(({ failures }) => failures > 0).length },
    );
    const some = orders.slice(0, Math.min(AGES.ofBank, AGES.ofAll - aged)).map(({ paymentId }) => paymentId);
    const seconds = await oldestAge(deps, some);
    if (seconds !== undefined) ages.push({ bank, seconds });
    read += rows.length + 1;
    aged += some.length;
    bank = await deps.outbox.nextQueue(bank);
  }
  return { counted, ages };
}

/** Of the orders that are due first, among which the oldest ones are unless they are retried. */
async function oldestAge(deps: CountOrdersDeps, ids: readonly PaymentId[]): Promise<number | undefined> {
  const payments = await Promise.all(ids.map((id) => deps.payments.find(deps.store, id)));
  const created = payments.flatMap((payment) => payment === null ? [] : payment.value.createdAt);
  return created.length === 0 ? undefined : Math.max(0, deps.clock() - Math.min(...created)) / 1000;
}

async function countHeld(deps: CountOrdersDeps): Promise<Queues> {
  const counted: Counted[] = [];
  const ages: { bank: string; seconds: number }[] = [];
  let [read, aged] = [0, 0];
  let bank = await deps.outbox.nextHeldBank(undefined);
  while (bank !== undefined) {
    const ids = await deps.outbox.heldOf(bank, countedAt(read));
    counted.push({ bank, state: "held", value: ids.length });
    const some = ids.slice(0, Math.min(HELD_AGES.ofBank, HELD_AGES.ofAll - aged));
    const seconds = await longestHeld(deps, some);
    if (seconds !== undefined) ages.push({ bank, seconds });
    read += ids.length + 1;
    aged += some.length;
    bank = await deps.outbox.nextHeldBank(bank);
  }
  return { counted, ages };
}

/** Ids are random, so that of many orders some are a fair sample. */
async function longestHeld(deps: CountOrdersDeps, ids: readonly PaymentId[]): Promise<number | undefined> {
  const orders = await Promise.all(ids.map((id) => deps.outbox.find(deps.store, id)));
  const since = orders.flatMap((order) => order?.value.state === "held" ? order.value.heldAt : []);
  return since.length === 0 ? undefined : Math.max(0, deps.clock() - Math.min(...since)) / 1000;
}

/** They are in the order of their ids, so that those of one bank must not hide those of another. */
async function countDead({ outbox }: CountOrdersDeps): Promise<readonly Counted[]> {
  const byBank = new Map<BankCode, number>();
  let after: OrderPlace | undefined;
  for (let read = 0; read < MAX_READ; read += MAX_COUNTED) {
    const rows = await outbox.dead(after, MAX_COUNTED);
    for (const { shown } of rows) {
      if (shown === undefined) continue;
      const { bank } = shown;
      byBank.set(bank, Math.min(MAX_COUNTED, (byBank.get(bank) ?? 0) + 1));
    }
    after = rows.at(-1)?.place;
    if (rows.length < MAX_COUNTED) break;
  }
  return [...byBank].map(([bank, value]) => ({ bank, state: "dead", value }));
}
