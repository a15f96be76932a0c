/** Walks and lists find what a plain filter of all entries finds, on both databases, in the same order. */
import { assert, assertEquals } from "@std/assert";
import type { Store, Write } from "../../../../src/base/store/store.ts";
import { listedPlace } from "../../../../src/platform/config/store_keys.ts";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import {
  isWalkCursor,
  type Listed,
  listOf,
  stageListed,
  type Walk,
  walkLists,
} from "../../../../src/platform/guards/lists/lookup_store.ts";
import { isPostgresMissing, newPostgresDatabase } from "support/postgres.ts";

const BANKS = ["AA", "B-1", "B_2", "Bank", "ZZ"];
const TPPS = ["1", "2", "a", "f"].map((digit) => `SC-${digit.repeat(8)}-0000-4000-8000-000000000000`);
const ENTRIES = 700;
const QUERIES = 150;

/** Repeatable numbers from 0 to less than `below` (a linear congruential generator). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % below;
  };
}

type Entry = Pick<Listed, "bank" | "clientId" | "id" | "createdAt" | "amount">;

async function filled(store: Store, next: (below: number) => number): Promise<readonly Entry[]> {
  const one = <T>(of: readonly T[]): T => of[next(of.length)] as T;
  const all = Array.from({ length: ENTRIES }, (): Entry => ({
    bank: one(BANKS),
    clientId: one(TPPS),
    id: crypto.randomUUID(),
    createdAt: next(200),
    amount: `${next(3)}.00 EUR`,
  }));
  for (let from = 0; from < all.length; from += 100) {
    const tx = { writes: [] };
    for (const entry of all.slice(from, from + 100)) {
      stageListed(tx, "consent", entry as never, entry.amount);
      stageListed(tx, "payment", { ...entry, id: crypto.randomUUID() } as never); // of another kind
    }
    await store.commit({ checks: [], writes: tx.writes });
  }
  const order = ({ bank, clientId, createdAt, id }: Entry): string =>
    `${bank}\0${clientId}\0${String(createdAt).padStart(15, "0")}-${id}`;
  return all.toSorted((a, b) => order(a) < order(b) ? -1 : 1);
}

/** Every page of a walk. */
async function walked(store: Store, walk: Omit<Walk, "after">, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < ENTRIES; pages++) {
    const { found, next } = await walkLists(store, { ...walk, after }, limit);
    assert(found.length <= limit);
    ids.push(...found.map(({ id }) => id));
    if (next === undefined) return ids;
    assert(isWalkCursor(next), next);
    after = next;
  }
  throw new Error("the walk does not end");
}

async function compare(store: Store): Promise<void> {
  const next = numbers(20_400_115);
  const all = await filled(store, next);
  const some = (of: readonly string[]): readonly string[] => of.filter(() => next(2) === 0).toSorted();
  for (let query = 0; query < QUERIES; query++) {
    const bank = next(3) === 0 ? BANKS[next(BANKS.length)] : undefined;
    const tpps = new Map(BANKS.map((code) => [code, next(3) === 0 ? "all" as const : some(TPPS)]));
    const [from, until] = [next(200), next(220)];
    const amount = next(2) === 0 ? undefined : `${next(3)}.00 EUR`;
    const isWanted = (entry: { amount: string | undefined }): boolean =>
      amount === undefined || entry.amount === amount;
    const tppsAt = (code: string): "all" | readonly string[] => tpps.get(code) ?? [];
    const expected = all.filter((entry) =>
      (bank === undefined || entry.bank === bank) && entry.createdAt >= from && entry.createdAt < until &&
      (tppsAt(entry.bank) === "all" || tppsAt(entry.bank).includes(entry.clientId)) && isWanted(entry)
    ).map(({ id }) => id);
    const walk = { kind: "consent", bank, tppsAt, from, until, isWanted } as const;
    assertEquals(await walked(store, walk, 1 + next(60)), expected);
    await compareList(store, all, {
      bank: BANKS[next(BANKS.length)] ?? "",
      tpp: TPPS[next(4)] ?? "",
      from,
      until,
    });
  }
}

async function compareList(
  store: Store,
  all: readonly Entry[],
  { bank, tpp, from, until }: { bank: string; tpp: string; from: number; until: number },
): Promise<void> {
  const list = { kind: "consent", bank, clientId: tpp } as never;
  const expected = all.filter((entry) =>
    entry.bank === bank && entry.clientId === tpp && entry.createdAt >= from && entry.createdAt < until
  );
  const found = await listOf(store, list, { from, until }, ENTRIES);
  assertEquals(found.map(({ id }) => id), expected.map(({ id }) => id));
  const rest = await listOf(store, list, { from, until, after: found[0]?.place }, 5);
  assertEquals(
    rest.map(({ id }) => id),
    (found.length === 0 ? [] : expected.slice(1, 6)).map(({ id }) => id),
  );
}

Deno.test("a walk that finds little reads 5,000 entries at most, or 250 times, and goes on where it has stopped [OWN5]", async () => {
  const kv = await openDenoKv(":memory:");
  const reads: number[] = [];
  const list: Store["list"] = async (listing) => {
    const read = await kv.list(listing);
    reads.push(read.length);
    return read as never;
  };
  const tx = { writes: [] as Write[] };
  for (let at = 0; at < 5003; at++) {
    stageListed(tx, "consent", { bank: "AA", clientId: TPPS[0], id: `${at}`, createdAt: at } as never);
  }
  for (let tpp = 100; tpp < 352; tpp++) {
    stageListed(tx, "payment", { bank: "AA", clientId: `${tpp}`, id: "one", createdAt: 1000 } as never);
  }
  for (let from = 0; from < tx.writes.length; from += 500) {
    await kv.commit({ checks: [], writes: tx.writes.slice(from, from + 500) });
  }
  const wanted = Number.MAX_SAFE_INTEGER;
  const step = async (walk: Partial<Walk>, after?: string): Promise<unknown> => {
    reads.length = 0;
    const whole: Walk = { kind: "consent", tppsAt: () => "all", from: 0, until: wanted, after, ...walk };
    const { found, next } = await walkLists({ ...kv, list }, whole, 9);
    const sum = reads.reduce((all, one) => all + one);
    return [found.map(({ id }) => id), next?.split(".").at(-1)?.replace(/^0+/, ""), reads.length, sum];
  };
  const isWanted = ({ createdAt }: Listed): boolean => createdAt === 4999 || createdAt === 5002;
  const place = (at: number): string => `${listedPlace(at, `${at}`)}`.replace(/^0+/, "");
  assertEquals(await step({ isWanted }), [["4999"], place(4999), 54, 5000]);
  assertEquals(reads.slice(0, 7), [4, 8, 16, 32, 64, 100, 100]);
  const rest = `AA.${TPPS[0]}.${listedPlace(4999, "4999")}`;
  assertEquals(await step({ isWanted }, rest), [["5002"], undefined, 2, 3]);
  assertEquals(await step({ kind: "payment", until: 1000 }), [[], "~", 250, 999]);
  await kv.close();
});

Deno.test("walks and lists on Deno KV [LS3, OWN5, TRC13]", async () => {
  const store = await openDenoKv(":memory:");
  await compare(store);
  await store.close();
});

Deno.test({
  name: "walks and lists on PostgreSQL [LS3, OWN5, TRC13]",
  ignore: isPostgresMissing,
  async fn() {
    const connections = await openConnections(readPostgresUrl(await newPostgresDatabase()));
    const store = openPostgresStore(connections);
    await compare(store);
    await store.close();
  },
  sanitizeOps: false, // connections end in their own time
  sanitizeResources: false,
});
