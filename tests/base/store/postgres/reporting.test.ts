/** The reporting schema: what commits change in it, and what analysts' queries cost. */
import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import type { Key, Store, Write } from "../../../../src/base/store/store.ts";
import { newPostgresDatabase, test } from "support/postgres.ts";

interface Database {
  readonly store: Store;
  rows(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

function reportingTest(name: string, fn: (database: Database) => Promise<void>): void {
  test(name, async () => {
    const url = await newPostgresDatabase();
    const connections = await openConnections(readPostgresUrl(url));
    const analyst = postgres(url.replace(/\?.*/, ""), { max: 1, onnotice: () => {} });
    const rows: Database["rows"] = async (text) => [...await analyst.unsafe(text)];
    try {
      await fn({ store: openPostgresStore(connections), rows });
    } finally {
      await analyst.end();
      await connections.close();
    }
  });
}

function set(key: Key, value: unknown): Write {
  return { kind: "set", key, value };
}

async function commit(store: Store, ...writes: readonly Write[]): Promise<void> {
  assert(await store.commit({ checks: [], writes }));
}

const ORDER: Key = ["payment_order", "BANKA", "001767268800000-p1"];
const OUTBOX: Key = ["outbox", "p1"];

reportingTest("an order is reported as it is pushed, held, given up and ended [G13]", async (database) => {
  const { store, rows } = database;
  const reported = async (): Promise<unknown> =>
    (await rows(`select delivery, failures, extract(epoch from due_at)::integer as due, bank,
      extract(epoch from created_at)::integer as created from reporting.payment_order`))[0];
  const outbox = (members: object): Promise<void> =>
    commit(store, set(OUTBOX, { bank: "BANKA", failures: 2, ...members }));
  const order = { bank: "BANKA", created: 1_767_268_800 };
  await commit(
    store,
    set(OUTBOX, { bank: "BANKA", failures: 0, state: "leased", dueAt: 1000 }),
    set(ORDER, "p1"),
  );
  assertEquals(await reported(), { delivery: "waiting", failures: 0, due: 1, ...order });
  await outbox({ state: "waiting", dueAt: 2000 });
  assertEquals(await reported(), { delivery: "waiting", failures: 2, due: 2, ...order });
  await outbox({ state: "held", why: "restored", heldAt: 3000 });
  assertEquals(await reported(), { delivery: "held", failures: 2, due: 3, ...order });
  await outbox({ state: "dead", diedAt: 4000 });
  assertEquals(await reported(), { delivery: "given up", failures: 2, due: 4, ...order });
  await commit(store, { kind: "delete", key: OUTBOX });
  assertEquals(await reported(), { delivery: "ended", failures: null, due: null, ...order });
  await commit(store, { kind: "delete", key: ORDER });
  assertEquals(await reported(), undefined);
});

reportingTest(
  "what a record loses is lost in the reporting schema too, and an unknown form stops no commit [G13]",
  async ({ store, rows }) => {
    const keys: readonly Key[] = [["consent", "c1"], ["payment", "p1"], ["audit", "c1", "1", "x"]];
    const tables = ["consent", "payment", "event"];
    const counts = async (): Promise<unknown> =>
      await Promise.all(tables.map(async (table) => (await rows(`select from reporting.${table}`)).length));
    const odd = {
      createdAt: "soon",
      at: {},
      bank: [1],
      request: 7,
      initiation: "x",
      charges: {},
      page: null,
    };
    for (
      const value of [{ createdAt: 1000, at: 1000, bank: "BANKA", charges: [1, 2] }, odd, "text", [], 7, {}]
    ) {
      await commit(store, ...keys.map((key) => set(key, value)));
    }
    assertEquals(await counts(), [1, 1, 1]);
    assertEquals(await rows("select created_at, bank, amount, charges from reporting.payment"), [
      { created_at: null, bank: null, amount: null, charges: null },
    ]);
    await commit(store, ...keys.map((key): Write => ({ kind: "delete", key })));
    assertEquals(await counts(), [0, 0, 0]);
    const checks = keys.map((key) => ({ key, version: null }));
    assert(await store.commit({ checks, writes: [set(["client", "x"], {})] }));
    assertEquals(await counts(), [0, 0, 0]);
  },
);

/** Four payments a day, of two banks in turn, with all rows that they leave behind. */
const PAYMENTS = 1460;

/** Runs SQL of the measurements with the value of its variable. */
async function measured(database: Database, file: string, variable: string, value: string): Promise<void> {
  const text = await Deno.readTextFile(new URL(`../../../../scripts/proofs/bench/${file}`, import.meta.url));
  assert(text.includes(variable));
  await database.rows(text.replaceAll(variable, value));
}

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Plan[];
}

async function planOf(
  { rows }: Database,
  query: string,
): Promise<{ readonly scans: string[]; blocks: number }> {
  const [row] = await rows(`explain (analyze, buffers, format json) ${query}`);
  const [{ Plan: top }] = row?.["QUERY PLAN"] as [{ readonly Plan: Plan }];
  const scans = (plan: Plan): string[] => [
    ...plan["Relation Name"] === undefined ? [] : [`${plan["Node Type"]} ${plan["Relation Name"]}`],
    ...(plan.Plans ?? []).flatMap(scans),
  ];
  return { scans: scans(top), blocks: top["Shared Hit Blocks"] + top["Shared Read Blocks"] };
}

reportingTest(
  "analysts read a payment and a day by index, whatever else there is [G13]",
  async (database) => {
    const { rows } = database;
    await measured(database, "year.sql", ":payments", String(PAYMENTS));
    await rows("analyze reporting.payment, reporting.consent, reporting.event");
    const [{ pages, id } = {}] = await rows(
      "select pg_relation_size('reporting.payment') / 8192 as pages, max(payment_id) as id from reporting.payment",
    );
    const one = await planOf(database, `select * from reporting.payment where payment_id = '${id}'`);
    assertEquals(one.scans, ["Index Scan payment"]);
    assert(one.blocks <= 4, `${one.blocks} blocks for a payment`);
    const history = await planOf(
      database,
      `select * from reporting.event where subject = '${id}' order by sequence`,
    );
    assertEquals(history.scans, ["Index Scan event"]);
    assert(history.blocks <= 6, `${history.blocks} blocks for a history`);
    for (
      const query of [
        "select bank, count(*) from reporting.payment where created_at > now() - interval '1 day' group by bank",
        "select * from reporting.bank_day where day = current_date - 2",
      ]
    ) {
      const { scans, blocks } = await planOf(database, query);
      assertEquals(scans.filter((scan) => scan.startsWith("Seq Scan")), [], query);
      assert(blocks < Number(pages) / 3, `${blocks} blocks of ${pages}: ${query}`);
    }
    const [figures] = await rows(`select sum(payments)::integer as payments, sum(settled)::integer as settled,
      sum(amount_settled)::text as amount from reporting.bank_day where bank = 'BANKA'`);
    assertEquals(figures, {
      payments: PAYMENTS / 2,
      settled: PAYMENTS / 2,
      amount: (PAYMENTS * 0.75).toFixed(2),
    });

    const months = (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
      rows(
        "select date_trunc('month', created_on)::text as month from reporting.payment group by 1 order by 1",
      );
    const before = await months();
    const gone = before[3];
    await measured(database, "month.sql", ":'month'", `'${gone?.["month"]}'`);
    assertEquals(await months(), before.filter((one) => one !== gone));
    const left = `select from reporting.event where date_trunc('month', at)::text = '${gone?.["month"]}'`;
    assertEquals(await rows(left), []);
  },
);
