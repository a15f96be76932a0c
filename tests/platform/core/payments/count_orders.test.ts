/** What a count of the orders that wait for their banks shows, and how much it reads of them [D4, OP9]. */
import { assertEquals } from "@std/assert";
import { asBankCode, type BankCode } from "../../../../src/base/kernel/identifiers.ts";
import { countOrders, type CountOrdersDeps } from "../../../../src/platform/core/payments/count_orders.ts";

const NOW = 1_800_000_000_000;

/** The orders of a bank in a queue: their age, when they are due, and failed pushes. */
interface Queue {
  readonly count: number;
  readonly ageMs: (index: number) => number;
  readonly dueAt?: (index: number) => number;
  readonly failures?: (index: number) => number;
}

function codeOf(text: string): BankCode {
  const code = asBankCode(text);
  if (code === undefined) throw new Error(`${text} is no code`);
  return code;
}

/** Counts once. Returns every metric, and the number of orders that were asked for in each read. */
async function counted(
  { queued = {}, held = {}, dead = [], restoredAt }: {
    readonly queued?: Readonly<Record<string, Queue>>;
    readonly held?: Readonly<Record<string, Queue>>;
    /** The bank of each dead order; undefined: one that cannot be read. */
    readonly dead?: readonly (string | undefined)[];
    readonly restoredAt?: number;
  },
): Promise<{ readonly metrics: Readonly<Record<string, unknown>>; readonly limits: readonly string[] }> {
  const metrics: Record<string, unknown> = {};
  const [limits, looked]: [string[], { payments: number; orders: number }] = [[], { payments: 0, orders: 0 }];
  const nextOf = (banks: object) => (after: string | undefined) =>
    Promise.resolve(Object.keys(banks).map(codeOf).find((bank) => after === undefined || bank > after));
  const queueOf = (queues: Readonly<Record<string, Queue>>, id: string): [Queue | undefined, number] => {
    const [bank = "", index = ""] = id.split(" ");
    return [queues[bank], Number(index)];
  };
  const deps = {
    store: {},
    outbox: {
      nextQueue: nextOf(queued),
      nextHeldBank: nextOf(held),
      waiting(_: unknown, limit: number, bank: string) {
        limits.push(`${bank} ${limit}`);
        const { count = 0, dueAt, failures } = queued[bank] ?? {};
        return Promise.resolve(Array.from({ length: Math.min(count, limit) }, (_, index) => ({
          place: [],
          shown: {
            paymentId: `${bank} ${index}`,
            dueAt: dueAt?.(index) ?? NOW,
            failures: failures?.(index) ?? 0,
          },
        })));
      },
      heldOf(bank: string, limit: number) {
        limits.push(`held ${bank} ${limit}`);
        const length = Math.min(held[bank]?.count ?? 0, limit);
        return Promise.resolve(Array.from({ length }, (_, index) => `${bank} ${index}`));
      },
      dead(after: readonly string[] = ["0"], limit: number) {
        limits.push(`dead ${limit}`);
        const from = Number(after[0]);
        return Promise.resolve(
          dead.slice(from, from + limit).map((bank, index) => ({
            place: [String(from + index + 1)],
            ...bank && { shown: { bank } },
          })),
        );
      },
      find(_: unknown, id: string) {
        looked.orders++;
        const [queue, index] = queueOf(held, id);
        return Promise.resolve({ value: { state: "held", heldAt: NOW - (queue?.ageMs(index) ?? 0) } });
      },
    },
    payments: {
      find(_: unknown, id: string) {
        looked.payments++;
        const [queue, index] = queueOf(queued, id);
        return Promise.resolve({ value: { createdAt: NOW - (queue?.ageMs(index) ?? 0) } });
      },
    },
    metrics: {
      replace(name: string, rows: readonly { labels: object; value: number }[]) {
        metrics[name] = rows.map(({ labels, value }) => [...Object.values(labels), value].join(" "));
      },
      set(name: string, labels: object, value: number) {
        metrics[name] = [labels, value];
      },
    },
    clock: () => NOW,
    steady: () => 1_000_000,
    unreconciled: () =>
      Promise.resolve(restoredAt === undefined ? [] : [{ bank: codeOf("BANKA"), restoredAt }]),
  };
  const all: unknown = deps;
  await countOrders(all as CountOrdersDeps)();
  return { metrics, limits: [...limits, `looked at ${looked.payments} and ${looked.orders}`] };
}

const NAMES = {
  orders: "platform_orders",
  oldest: "platform_order_oldest_age_seconds",
  held: "platform_order_held_age_seconds",
  unreconciled: "platform_bank_unreconciled_seconds",
  at: "platform_orders_counted_timestamp_seconds",
};

Deno.test("each bank's orders are counted by state, with the age of the oldest, and dead ones by bank", async () => {
  const { metrics, limits } = await counted({
    queued: {
      BANKA: {
        count: 3,
        ageMs: (index) => [1500, 2500, 500][index] ?? 0,
        dueAt: (index) => [NOW, NOW + 1, NOW - 1][index] ?? 0,
        failures: (index) => index,
      },
      BANKB: { count: 1, ageMs: () => -5000 },
    },
    held: { BANKA: { count: 2, ageMs: (index) => 7500 + index * 500 } },
    dead: ["BANKB", undefined, "BANKA", "BANKB"],
    restoredAt: NOW - 4500,
  });
  assertEquals(metrics, {
    [NAMES.orders]: [
      ...["BANKA waiting 3", "BANKA due 2", "BANKA retrying 2"],
      ...["BANKB waiting 1", "BANKB due 1", "BANKB retrying 0"],
      ...["BANKA held 2", "BANKB dead 2", "BANKA dead 1"],
    ],
    [NAMES.oldest]: ["BANKA 2.5", "BANKB 0"],
    [NAMES.held]: ["BANKA 8"],
    [NAMES.unreconciled]: ["BANKA 4.5"],
    [NAMES.at]: [{}, NOW / 1000],
  });
  assertEquals(limits, ["BANKA 1000", "BANKB 1000", "held BANKA 1000", "dead 1000", "looked at 4 and 2"]);
});

Deno.test("a bank with one dead order is shown behind another one with thousands", async () => {
  const { metrics, limits } = await counted({ dead: [...Array(2500).fill("BANKA"), "BANKB"] });
  assertEquals(metrics[NAMES.orders], ["BANKA dead 1000", "BANKB dead 1"]);
  assertEquals(limits, ["dead 1000", "dead 1000", "dead 1000", "looked at 0 and 0"]);
});

Deno.test("nothing that waits is nothing that is shown, and a restore of a clock that is ahead is new", async () => {
  const { metrics } = await counted({ restoredAt: NOW + 9000 });
  assertEquals(metrics, {
    ...{ [NAMES.orders]: [], [NAMES.oldest]: [], [NAMES.held]: [] },
    [NAMES.unreconciled]: ["BANKA 0"],
    [NAMES.at]: [{}, NOW / 1000],
  });
});

Deno.test("a pass reads 1,000 orders of a bank, 20,000 of all and then one of each, and few of their ages", async () => {
  const names = Array.from({ length: 60 }, (_, index) => `BANK${String(index).padStart(2, "0")}`);
  const queueOf = (count: number): Readonly<Record<string, Queue>> =>
    Object.fromEntries(names.map((name) => [name, { count, ageMs: (index: number) => index * 1000 }]));
  const { metrics, limits } = await counted({ queued: queueOf(2000), held: queueOf(2000) });
  const limitsOf = (prefix: string): number[] =>
    names.map((name) =>
      Number(limits.find((limit) => limit.startsWith(`${prefix}${name} `))?.split(" ").at(-1))
    );
  const expected = names.map((_, index) => index < 20 ? 1000 : 1);
  assertEquals([limitsOf(""), limitsOf("held ")], [expected, expected]);
  assertEquals(limits.at(-1), `looked at ${20 * 20 + 40} and ${20 * 50}`);
  const ages = metrics[NAMES.oldest] as readonly string[];
  assertEquals(ages, names.map((name, index) => `${name} ${index < 20 ? 19 : 0}`));
  assertEquals(metrics[NAMES.held], names.slice(0, 20).map((name) => `${name} 49`));
  const full = await counted({ dead: Array(20_001).fill("BANKA") });
  assertEquals(full.limits.filter((limit) => limit === "dead 1000").length, 20);
  const many = await counted({ queued: queueOf(19) });
  assertEquals(many.limits.at(-1), `looked at ${Math.min(60 * 19, 1000)} and 0`);
});
