/** Which commits go into one transaction, and the result of each. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { openConcurrencyLimit, openGroupCommits } from "../../../src/base/store/group_commits.ts";
import {
  type Commit,
  type Entry,
  Key,
  type Store,
  StoreFailure,
  type Write,
} from "../../../src/base/store/store.ts";

const UNTIL_ANSWERED = { atOnce: 1, maxWaitMs: 60_000 };

/** Groups over a store in memory, with the transactions that reached it. The first one waits for `begin`. */
async function grouped(
  fault: (transaction: Commit) => Error | undefined = () => undefined,
): Promise<{ commit: Store["commit"]; transactions: Commit[]; begin: () => void; store: Store }> {
  const store = await openDenoKv(":memory:");
  const transactions: Commit[] = [];
  const begun = Promise.withResolvers<void>();
  const commit = openGroupCommits(async (transaction) => {
    await begun.promise;
    transactions.push(transaction);
    const error = fault(transaction);
    if (error !== undefined) throw error;
    return await store.commit(transaction);
  }, openConcurrencyLimit(UNTIL_ANSWERED));
  return { commit, transactions, begin: () => begun.resolve(), store };
}

function set(...key: Key): Write {
  return { kind: "set", key, value: 1 };
}

function sizes(transactions: readonly Commit[]): number[] {
  return transactions.map(({ writes }) => writes.length);
}

Deno.test("commits that wait go into one transaction, each with its own result", async () => {
  const { commit, transactions, begin, store } = await grouped();
  await store.commit({ checks: [], writes: [set("taken")] });
  const first = commit({ checks: [], writes: [set("first")] });
  await Promise.resolve(); // its turn has come
  const others = ["a", "b", "c"].map((name) => commit({ checks: [], writes: [set(name)] }));
  begin();
  assertEquals(await Promise.all([first, ...others]), [true, true, true, true]);
  assertEquals(sizes(transactions), [1, 3]);
  const mixed = await Promise.all([
    commit({ checks: [], writes: [set("before")] }),
    commit({ checks: [{ key: ["taken"], version: null }], writes: [set("conflict")] }),
    commit({ checks: [], writes: [set("after")] }),
  ]);
  assertEquals(mixed, [true, false, true]);
  assertEquals(await store.get(["conflict"]), null);
  assertEquals((await store.getMany([["before"], ["after"]])).map((entry) => entry?.value), [1, 1]);
  await store.close();
});

Deno.test("writes that can be joined are one write in a transaction of several commits, and themselves in one alone", async () => {
  const { commit, transactions, begin, store } = await grouped();
  const join = (rows: readonly Entry<unknown>[]): Write[] => [
    { kind: "set", key: ["joined"], value: rows.flatMap(({ key }) => key) },
  ];
  const joinable = (name: string): Write => ({ ...set(name), join } as Write);
  const first = commit({ checks: [], writes: [joinable("first"), joinable("of two")] });
  await Promise.resolve(); // its turn has come
  const others = ["a", "b"].map((name) =>
    commit({ checks: [], writes: [joinable(name), set(`${name} alone`)] })
  );
  begin();
  assertEquals(await Promise.all([first, ...others]), [true, true, true]);
  assertEquals(sizes(transactions), [2, 3]);
  assertEquals((await store.get(["joined"]))?.value, ["a", "b"]);
  const apart = await Promise.all([
    commit({ checks: [{ key: ["first"], version: null }], writes: [joinable("conflict")] }),
    commit({ checks: [], writes: [joinable("c")] }),
  ]);
  assertEquals(apart, [false, true]);
  assertEquals((await store.get(["joined"]))?.value, ["a", "b"]);
  assertEquals((await store.get(["c"]))?.value, 1);
  await store.close();
});

const absent = (name: string): Commit["checks"] => [{ key: [name], version: null }];
const OVERLAPS: Readonly<Record<string, readonly [Commit, Commit]>> = {
  "both create one entry": [
    { checks: absent("a"), writes: [set("a")] },
    { checks: absent("a"), writes: [set("a")] },
  ],
  "one writes what the other requires": [
    { checks: [], writes: [set("a")] },
    { checks: absent("a"), writes: [set("b")] },
  ],
  "one requires what the other writes": [
    { checks: absent("a"), writes: [set("b")] },
    { checks: [], writes: [set("a")] },
  ],
  "both write one entry": [{ checks: [], writes: [set("a")] }, { checks: [], writes: [set("a")] }],
};

for (const [overlap, [one, other]] of Object.entries(OVERLAPS)) {
  Deno.test(`two commits are not in one transaction if ${overlap}`, async () => {
    const { commit, transactions, begin, store } = await grouped();
    const first = commit({ checks: [], writes: [set("first")] });
    await Promise.resolve();
    const both = Promise.all([commit(one), commit(other)]);
    begin();
    await first;
    const results = await both;
    const isLater = other.checks.some(({ key }) => one.writes.some((write) => write.key[0] === key[0]));
    assertEquals(results, [true, !isLater]);
    assert(transactions.length >= 3, `${transactions.length} transactions`);
    await store.close();
  });
}

Deno.test("a group is bounded by commits, checks and writes", async () => {
  const { commit, transactions, begin, store } = await grouped();
  const many = (count: number, of: (index: number) => Commit): Promise<boolean>[] =>
    Array.from({ length: count }, (_, index) => commit(of(index)));
  const first = commit({ checks: [], writes: [set("first")] });
  await Promise.resolve();
  const all = [
    ...many(20, (index) => ({ checks: [], writes: [set("small", String(index))] })),
    ...many(3, (index) => ({
      checks: [],
      writes: Array.from({ length: 240 }, (_, write) => set(`${index}`, `${write}`)),
    })),
    ...many(3, (index) => ({
      checks: Array.from({ length: 45 }, (_, check) => ({ key: [`${index}`, `c${check}`], version: null })),
      writes: [set("checked", `${index}`)],
    })),
  ];
  begin();
  await Promise.all([first, ...all]);
  assertEquals(sizes(transactions), [1, 16, 484, 240 + 2, 1]);
  await store.close();
});

Deno.test("two commits with 100 checks or 500 writes are one transaction, and with one more they are two", async () => {
  for (
    const [checks, writes, together] of [[60, 1, true], [61, 1, false], [0, 460, true], [
      0,
      461,
      false,
    ]] as const
  ) {
    const { commit, transactions, begin, store } = await grouped();
    const first = commit({ checks: [], writes: [set("first")] });
    await Promise.resolve();
    const staged = (name: string, checked: number, written: number): Promise<boolean> =>
      commit({
        checks: Array.from({ length: checked }, (_, check) => ({ key: [`${name}${check}`], version: null })),
        writes: Array.from({ length: written }, (_, write) => set(name, `${write}`)),
      });
    const both = [staged("a", 40, 40), staged("b", checks, writes)];
    begin();
    assertEquals(await Promise.all([first, ...both]), [true, true, true]);
    const expected = together ? [1, 40 + writes] : [1, 40, writes];
    assertEquals(sizes(transactions), expected, `${checks} ${writes}`);
    await store.close();
  }
});

Deno.test("a group whose transaction fails with the database is not tried again commit by commit", async () => {
  const { commit, transactions, begin, store } = await grouped(({ writes }) =>
    writes.length > 1 ? new StoreFailure("disk I/O error") : undefined
  );
  const first = commit({ checks: [], writes: [set("first")] });
  await Promise.resolve();
  const others = ["a", "b"].map((name) => commit({ checks: [], writes: [set(name)] }));
  begin();
  const ended = await Promise.allSettled([first, ...others]);
  assertEquals(ended.map(({ status }) => status), ["fulfilled", "rejected", "rejected"]);
  assertEquals(sizes(transactions), [1, 2]);
  await store.close();
});

Deno.test("a commit that the store refuses as a bug fails alone, and the ones after it happen", async () => {
  const { commit, begin, store } = await grouped(({ writes }) =>
    writes.some(({ key }) => key[0] === "a") ? new TypeError("too large") : undefined
  );
  const first = commit({ checks: [], writes: [set("first")] });
  await Promise.resolve();
  const others = ["a", "b"].map((name) => commit({ checks: [], writes: [set(name)] }));
  begin();
  const ended = await Promise.allSettled([first, ...others]);
  assertEquals(ended.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  await store.close();
});

Deno.test("a transaction that is too large is done commit by commit", async () => {
  const { commit, transactions, begin, store } = await grouped(({ writes }) =>
    writes.length > 1 ? new TypeError("too large") : undefined
  );
  const first = commit({ checks: [], writes: [set("first")] });
  await Promise.resolve();
  const others = ["a", "b"].map((name) => commit({ checks: [], writes: [set(name)] }));
  begin();
  assertEquals(await Promise.all([first, ...others]), [true, true, true]);
  assertEquals(sizes(transactions), [1, 2, 1, 1]);
  await store.close();
});

Deno.test("a commit that has happened is not reported as failed because the next one of its group fails", async () => {
  const { commit, begin, store } = await grouped(({ writes }) => {
    if (writes.length > 1) return new TypeError("too large");
    return writes[0]?.key[0] === "b" ? new StoreFailure("disk I/O error") : undefined;
  });
  const first = commit({ checks: [], writes: [set("first")] });
  await Promise.resolve();
  const [a, b, c] = ["a", "b", "c"].map((name) => commit({ checks: [], writes: [set(name)] }));
  begin();
  await first;
  assertEquals(await a, true);
  await assertRejects(() => b ?? Promise.resolve(), StoreFailure, "disk I/O error");
  await assertRejects(() => c ?? Promise.resolve(), StoreFailure, "disk I/O error");
  assertEquals((await store.getMany([["a"], ["b"], ["c"]])).map((entry) => entry !== null), [
    true,
    false,
    false,
  ]);
  assertEquals(await commit({ checks: [], writes: [set("later")] }), true);
  await store.close();
});

Deno.test("commits of a group that gets no turn fail, and later ones succeed", async () => {
  const store = await openDenoKv(":memory:");
  const held = Promise.withResolvers<void>();
  const commit = openGroupCommits(async (transaction) => {
    await held.promise;
    return await store.commit(transaction);
  }, openConcurrencyLimit({ atOnce: 1, maxWaitMs: 20 }));
  const first = commit({ checks: [], writes: [set("first")] });
  await Promise.resolve();
  const late = await Promise.allSettled(
    ["a", "b"].map((name) => commit({ checks: [], writes: [set(name)] })),
  );
  assertEquals(late.map(({ status }) => status), ["rejected", "rejected"]);
  held.resolve();
  assertEquals(await first, true);
  assertEquals(await commit({ checks: [], writes: [set("later")] }), true);
  await store.close();
});
