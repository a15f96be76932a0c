/**
 * Counts the orders that wait for their banks, for the metrics. It runs in the background, so that a scrape reads
 * memory only. Every process counts the orders of the whole database.
 */
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import { readPage } from "../../../base/store/page.ts";
import type { Store } from "../../../base/store/store.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import { pacedJob } from "../../events/delivery/paced_job.ts";
import { isDue } from "../../events/delivery/retry_delays.ts";
import type { OrderOutboxStore } from "./order_outbox_store.ts";
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

/** What a list has of a bank: how many orders in each state, and ids of those of whose ages some are read. */
interface OfBank {
  readonly rows: number;
  readonly states: Readonly<Partial<Record<Counted["state"], number>>>;
  readonly ids: readonly PaymentId[];
}

interface Counts {
  readonly counted: readonly Counted[];
  readonly ages: readonly { readonly bank: string; readonly seconds: number }[];
}

/** Walks through the banks of a list. A pass counts further orders of each until it has read so many of all. */
async function countBanks(
  { clock }: CountOrdersDeps,
  { next, read, since, ages: { ofBank, ofAll } }: {
    readonly next: (after: BankCode | undefined) => Promise<BankCode | undefined>;
    readonly read: (bank: BankCode, limit: number) => Promise<OfBank>;
    /** Returns the time from which the age of an order counts; undefined if it has left the list. */
    readonly since: (id: PaymentId) => Promise<number | undefined>;
    readonly ages: { readonly ofBank: number; readonly ofAll: number };
  },
): Promise<Counts> {
  const counted: Counted[] = [];
  const ages: { bank: string; seconds: number }[] = [];
  let [left, leftAges] = [MAX_READ, ofAll];
  for (let bank = await next(undefined); bank !== undefined; bank = await next(bank)) {
    const { rows, states, ids } = await read(bank, Math.max(1, Math.min(MAX_COUNTED, left)));
    for (const [state, value] of Object.entries(states)) {
      counted.push({ bank, state: state as Counted["state"], value });
    }
    const some = ids.slice(0, Math.min(ofBank, leftAges));
    const times = (await Promise.all(some.map(since))).filter((time) => time !== undefined);
    if (times.length > 0) ages.push({ bank, seconds: Math.max(0, clock() - Math.min(...times)) / 1000 });
    left -= rows;
    leftAges -= some.length;
  }
  return { counted, ages };
}

/** The ages are of the orders that are due first, among which the oldest ones are unless they are retried. */
function countQueues(deps: CountOrdersDeps): Promise<Counts> {
  const { outbox, payments, store, clock } = deps;
  return countBanks(deps, {
    next: outbox.nextQueue,
    async read(bank, limit) {
      const rows = await outbox.waiting(undefined, limit, bank);
      const orders = rows.flatMap(({ shown }) => shown ?? []);
      const states = {
        waiting: orders.length,
        due: orders.filter(({ dueAt }) => isDue(dueAt, clock())).length,
        retrying: orders.filter(({ failures }) => failures > 0).length,
      };
      return { rows: rows.length, states, ids: orders.map(({ paymentId }) => paymentId) };
    },
    since: async (id) => (await payments.find(store, id))?.value.createdAt,
    ages: AGES,
  });
}

/** The ages are a fair sample, because ids are random. */
function countHeld(deps: CountOrdersDeps): Promise<Counts> {
  const { outbox, store } = deps;
  return countBanks(deps, {
    next: outbox.nextHeldBank,
    async read(bank, limit) {
      const ids = await outbox.heldOf(bank, limit);
      return { rows: ids.length, states: { held: ids.length }, ids };
    },
    async since(id) {
      const order = (await outbox.find(store, id))?.value;
      return order?.state === "held" ? order.heldAt : undefined;
    },
    ages: HELD_AGES,
  });
}

/** They are in the order of their ids, so that those of one bank must not hide those of another. */
async function countDead({ outbox }: CountOrdersDeps): Promise<readonly Counted[]> {
  const byBank = new Map<BankCode, number>();
  const paging = { after: undefined, limit: MAX_READ, reads: MAX_READ / MAX_COUNTED, perRead: MAX_COUNTED };
  for (const { bank } of (await readPage(paging, outbox.dead)).found) {
    byBank.set(bank, Math.min(MAX_COUNTED, (byBank.get(bank) ?? 0) + 1));
  }
  return [...byBank].map(([bank, value]) => ({ bank, state: "dead", value }));
}
