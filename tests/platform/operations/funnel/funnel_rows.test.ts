/** The rows that a report of the funnel reads. */
import { assertEquals } from "@std/assert";
import type { BankCode, ClientId, ConsentId } from "../../../../src/base/kernel/identifiers.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import { countJourney, noSums } from "../../../../src/platform/observed/funnel/funnel.ts";
import {
  type FunnelCase,
  keysOf,
  openFunnelStore,
  stageFunnelCase,
} from "../../../../src/platform/observed/funnel/funnel_store.ts";
import {
  type Dimension,
  type FunnelAsked,
  readFunnel,
} from "../../../../src/platform/operations/funnel/funnel_representation.ts";
import { present } from "testing/answers.ts";
import { openTestStore } from "testing/test_store.ts";

const [BANKS, TPPS] = [3, 7];
const DAY = "2040-01-15";
const AT = Date.parse(DAY);
const KEEP_MS = 400 * 86_400_000;

const tppOf = (n: number): ClientId =>
  `SC-00000000-0000-4000-8000-${String(Math.floor(n / BANKS)).padStart(12, "0")}` as ClientId;

/** One consent of each TPP at each bank. */
const CASES: readonly FunnelCase[] = Array.from({ length: BANKS * TPPS }, (_, n) => ({
  consentId: `00000000-0000-7000-8000-${String(n).padStart(12, "0")}` as ConsentId,
  bank: `BANK${n % BANKS}` as BankCode,
  clientId: tppOf(n),
  type: n % 2 === 0 ? "explicit" : "implicit",
  createdAt: AT,
}));

/** Counts the rows that are read. */
function counting(store: Store): { readonly store: Store; readonly read: { rows: number } } {
  const read = { rows: 0 };
  const counted: Store = {
    ...store,
    async get(key) {
      read.rows++;
      return await store.get(key);
    },
    async list<T>(listing: Parameters<Store["list"]>[0]) {
      const found = await store.list<T>(listing);
      read.rows += found.length;
      return found;
    },
  };
  return { store: counted, read };
}

async function fill(store: Store): Promise<void> {
  const funnel = openFunnelStore(store, KEEP_MS);
  const deps = { store, clock: () => AT };
  await commitIfUnchanged(deps, (tx) => CASES.slice(0, 1).forEach((one) => stageFunnelCase(tx, one)));
  const due = await funnel.due(AT + 3_600_000, 10, (_entry, error) => {
    throw error;
  });
  const formers = await funnel.sumsOf(CASES);
  const sums = formers.map((former) => {
    const all = CASES.filter((one) => keysOf(one).some((key) => key.join() === former.key.join()));
    const parts = (["explicit", "implicit"] as const).map((type) => {
      const part = { type, language: "en", ...noSums() };
      for (const _ of all.filter((one) => one.type === type)) {
        countJourney(part, { language: "en", reached: [AT] }, 1);
      }
      return part;
    });
    return { ...former, sums: { parts } };
  });
  await commitIfUnchanged(
    deps,
    (tx) => funnel.stageCounted(tx, { sums, cases: due.map((former) => ({ former })) }),
  );
}

Deno.test("a case that cannot be read is kept no longer than the sums in which it would count [FUN2]", async () => {
  await using store = await openTestStore();
  const ends: unknown[] = [];
  const commit: Store["commit"] = (staged) => {
    for (const write of staged.writes) if (write.kind === "set") ends.push(write.expiresAt);
    return store.commit(staged);
  };
  const deps = { store: { ...store, commit }, clock: () => AT };
  for (const [place, createdAt] of [AT, "yesterday"].entries()) {
    const key = ["funnel_case", "000000000000001", String(place)];
    await commitIfUnchanged(deps, (tx) => tx.writes.push({ kind: "set", key, value: { createdAt } }));
    const stored = present(await store.get(key));
    const funnel = openFunnelStore(store, KEEP_MS);
    await commitIfUnchanged(deps, (tx) => funnel.stagePostponed(tx, stored, AT + 6));
  }
  const kept = KEEP_MS + 86_400_000;
  assertEquals(ends, [undefined, AT + kept, undefined, AT + 6 + kept]);
});

Deno.test("a report reads a row for each bank or TPP, and one for each pair only if it asks for both [FUN3]", async (t) => {
  const { store, read } = counting(await openTestStore());
  await fill(store);
  const bank = "BANK1";
  const clientId = tppOf(2 * BANKS);
  const all = { of: {}, rows: BANKS, cases: BANKS * TPPS, lines: 1 };
  const asked: Readonly<
    Record<
      string,
      { by?: Dimension[]; of: FunnelAsked["of"][number]; rows: number; cases: number; lines: number }
    >
  > = {
    "all": all,
    "by bank": { ...all, by: ["bank"], lines: BANKS },
    "by type": { ...all, by: ["type"], lines: 2 },
    "by tpp": { ...all, by: ["tpp"], rows: TPPS, lines: TPPS },
    "by both": { ...all, by: ["bank", "tpp"], rows: BANKS * TPPS, lines: BANKS * TPPS },
    "of a bank": { of: { bank }, rows: 1, cases: TPPS, lines: 1 },
    "of a bank by tpp": { of: { bank }, by: ["tpp"], rows: TPPS, cases: TPPS, lines: TPPS },
    "of a tpp": { of: { clientId }, rows: 1, cases: BANKS, lines: 1 },
    "of a tpp by bank": { of: { clientId }, by: ["bank"], rows: BANKS * TPPS, cases: BANKS, lines: BANKS },
    "of both": { of: { bank, clientId }, by: ["bank", "tpp"], rows: 1, cases: 1, lines: 1 },
  };
  for (const [name, { by = [], of, rows, cases, lines }] of Object.entries(asked)) {
    await t.step(name, async () => {
      read.rows = 0;
      const found = await readFunnel({ funnel: openFunnelStore(store, KEEP_MS) }, {
        days: [DAY],
        by,
        of: [of],
      });
      const created = found.reduce((sum, row) => sum + (row.sums.reached.created ?? 0), 0);
      assertEquals({ rows: read.rows, cases: created, lines: found.length }, { rows, cases, lines });
    });
  }
  await store.close();
});
