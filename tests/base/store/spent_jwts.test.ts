/** `store/spent_jwts`: a file's replay records are in memory, and in the file one row for each transaction. */
import { assertEquals, assertRejects } from "@std/assert";
import { logWaitingRecord, spentJwtRecord, spentJwtsRecord } from "../../../src/base/store/base_records.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { openSpentJwts, spreadSpentJwts } from "../../../src/base/store/spent_jwts.ts";
import { openSqliteStore } from "../../../src/base/store/sqlite_store.ts";
import { type Commit, type Store, StoreFailure, type Write } from "../../../src/base/store/store.ts";

const EXPIRES_AT = Date.now() + 120_000;

function keyOf(id: string): readonly string[] {
  return [spentJwtRecord.name, id];
}

/** The commit of a request that spends these and writes an entry. */
function spending(...ids: readonly string[]): Commit {
  const writes: Write[] = [{ kind: "set", key: ["effect", ids.join()], value: 1 }];
  for (const id of ids) spentJwtRecord.set({ writes }, keyOf(id), { expiresAt: EXPIRES_AT }, EXPIRES_AT);
  return { checks: ids.map((id) => ({ key: keyOf(id), version: null })), writes };
}

async function rows(store: Store): Promise<string[][]> {
  const listed = await store.list({ prefix: [spentJwtsRecord.name], limit: 100 });
  return listed.map((entry) => spentJwtsRecord.decode(entry).value.spent.map(({ id }) => id).toSorted());
}

for (const [name, open] of [["kv", openDenoKv], ["sqlite", openSqliteStore]] as const) {
  Deno.test(`${name}: a transaction has its replay records in one row, and each is still read by itself`, async () => {
    const store = await open(":memory:");
    const busy = store.commit(spending("x")); // the others wait
    await new Promise((next) => setTimeout(next)); // until its transaction has begun
    const done = await Promise.all([
      busy,
      ...["a", "b", "c"].map((id) => store.commit(spending(id, `${id}2`))),
    ]);
    assertEquals(done.every(Boolean), true);
    const together = ["a", "a2", "b", "b2", "c", "c2"];
    assertEquals((await rows(store)).filter((ids) => ids.includes("a")), [together]);
    const found = await store.getMany([keyOf("a2"), ["effect", "b,b2"], keyOf("none")]);
    assertEquals(found.map((entry) => entry?.value ?? null), [{ expiresAt: EXPIRES_AT }, 1, null]);
    assertEquals(await store.commit(spending("d", "b2")), false);
    assertEquals([await store.get(["effect", "d,b2"]), await store.get(keyOf("d"))], [null, null]);
    await store.close();
  });

  Deno.test(`${name}: what was spent stays so when the file is opened again, rows of single records too`, async () => {
    const folder = await Deno.makeTempDir();
    const file = `${folder}/platform.${name}`;
    const before = await open(file);
    assertEquals(await before.commit(spending("a", "b")), true);
    await before.close();
    const after = await open(file);
    assertEquals(await after.commit(spending("b")), false);
    assertEquals(await after.commit(spending("c")), true);
    await after.close();
    await Deno.remove(folder, { recursive: true });
  });

  Deno.test(`${name}: a commit that fails a check spends nothing`, async () => {
    const store = await open(":memory:");
    const lost = spending("a");
    await store.commit({ checks: [], writes: [{ kind: "set", key: ["other"], value: 1 }] });
    const checks = [...lost.checks, { key: ["other"], version: null }];
    assertEquals(await store.commit({ ...lost, checks }), false);
    assertEquals([await rows(store), await store.commit(lost), await rows(store)], [[], true, [["a"]]]);
    await store.close();
  });
}

Deno.test("no two writes of a replay record have the same version, whatever their times of expiry", async () => {
  const store = await openDenoKv(":memory:");
  const spend = async (expiresAt: number, version: string | null, id = "a"): Promise<boolean> => {
    const writes: Write[] = [];
    spentJwtRecord.set({ writes }, keyOf(id), { expiresAt }, expiresAt);
    return await store.commit({ checks: [{ key: keyOf(id), version }], writes });
  };
  const seen: string[] = [];
  await spend(EXPIRES_AT + 600_000, null, "other"); // the order in which times of expiry come does not matter
  for (const later of [0, 0, 600_000, 600_000, 1_200_000]) { // each after the one before it has expired
    assertEquals(await spend(EXPIRES_AT + later, seen.at(-1) ?? null), true);
    for (const version of seen) assertEquals(await spend(EXPIRES_AT + later, version), false);
    const found = await store.get<{ expiresAt: number }>(keyOf("a"));
    assertEquals(found?.value, { expiresAt: EXPIRES_AT + later });
    seen.push(found?.version ?? "");
  }
  await store.close();
});

/** A commit with a leaf hash that waits for the evidence log. */
function waiting(leaf: string, ...ids: readonly string[]): Commit {
  const { checks, writes } = spending(...ids);
  const rows: Write[] = [...writes];
  logWaitingRecord.set({ writes: rows }, [logWaitingRecord.name, leaf], { leaves: [{ at: 0, leaf }] });
  return { checks, writes: rows };
}

for (const [name, open] of [["kv", openDenoKv], ["sqlite", openSqliteStore]] as const) {
  Deno.test(`${name}: a row that waits for the evidence log has the replay records of its transaction, and leaves them when it goes`, async () => {
    const folder = await Deno.makeTempDir();
    const file = `${folder}/platform.${name}`;
    const ids = ["a", "b", "c", "lost"];
    const isSpent = async (store: Store): Promise<boolean[]> =>
      (await store.getMany(ids.map(keyOf))).map((found) => found !== null);
    const reopened = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
      const store = await open(file);
      const result = await work(store);
      await store.close();
      return result;
    };
    await reopened(async (store) => {
      assertEquals(await store.commit(waiting("one", "a", "b")), true);
      const lost = waiting("one", "lost");
      assertEquals(
        await store.commit({ ...lost, checks: [{ key: ["effect", "a,b"], version: null }] }),
        false,
      );
      assertEquals(await rows(store), []);
    });
    const leave = (leaf: string): Write => ({ kind: "delete", key: [logWaitingRecord.name, leaf] });
    await reopened(async (store) => {
      assertEquals(await isSpent(store), [true, true, false, false]);
      await Promise.all([store.commit(waiting("two", "c")), store.get(keyOf("a"))]);
      const unmet = [{ key: ["effect", "c"], version: null }];
      assertEquals(await store.commit({ checks: unmet, writes: [leave("one"), leave("two")] }), false);
      assertEquals(await store.commit({ checks: [], writes: [leave("one"), leave("two")] }), true);
      assertEquals(await rows(store), [["a", "b", "c"]]);
      assertEquals(await store.list({ prefix: [logWaitingRecord.name], limit: 9 }), []);
    });
    await reopened(async (store) => assertEquals(await isSpent(store), [true, true, true, false]));
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("A row that is seen and deleted before its transaction is known to have happened leaves its replay records", async () => {
  const spent = await openSpentJwts(() => Promise.resolve([]), {});
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const one = spent.commit(waiting("one", "a"), () => promise);
  const written: Write[] = [];
  const growth: Commit = { checks: [], writes: [{ kind: "delete", key: [logWaitingRecord.name, "one"] }] };
  await spent.commit(growth, ({ writes }) => Promise.resolve(written.push(...writes) > 0));
  resolve(true);
  assertEquals([await one, written.map(({ key }) => key[0])], [true, [
    logWaitingRecord.name,
    spentJwtsRecord.name,
  ]]);
});

Deno.test("A failed deletion of a row leaves its replay records to the next one, which moves them", async () => {
  const spent = await openSpentJwts(() => Promise.resolve([]), {});
  const key = [logWaitingRecord.name, "one"];
  assertEquals(await spent.commit(waiting("one", "a"), () => Promise.resolve(true)), true);
  const deletion: Commit = { checks: [], writes: [{ kind: "delete", key }] };
  await assertRejects(
    () => spent.commit(deletion, () => Promise.reject(new StoreFailure("full"))),
    StoreFailure,
  );
  const moved: Write[] = [];
  await spent.commit(deletion, (staged) => Promise.resolve(moved.push(...staged.writes) > 0));
  assertEquals(moved.map(({ key: [name] }) => name), [logWaitingRecord.name, spentJwtsRecord.name]);
});

Deno.test("A copied file's rows with one replay record are spread too, and one that another process has changed is left", async () => {
  const [key, written] = [[spentJwtsRecord.name, "0", "a"], [] as Commit[]];
  const staged: Write[] = [];
  spentJwtsRecord.set({ writes: staged }, key, { spent: [{ id: "a", expiresAt: EXPIRES_AT }] });
  const [row] = staged.flatMap((write) =>
    write.kind === "set" ? [{ key, value: write.value, version: "7" }] : []
  );
  await spreadSpentJwts({
    list: ({ prefix: [name] }) =>
      Promise.resolve(name === spentJwtsRecord.name && row !== undefined ? [row] : []) as never,
    commit: (one) => Promise.resolve(written.push(one) > 0),
  });
  assertEquals(written.map(({ checks }) => checks.map((check) => check.version)), [["7"]]);
  assertEquals(written.flatMap(({ writes }) => writes.map(({ kind, key: [name] }) => `${kind} ${name}`)), [
    `delete ${spentJwtsRecord.name}`,
    `set ${spentJwtRecord.name}`,
  ]);
});

Deno.test("The replay records of as many rows as the log places at once fit into one transaction of Deno KV", async () => {
  const spent = await openSpentJwts(() => Promise.resolve([]), {});
  const store = await openDenoKv(":memory:", { isAsStored: true });
  const leaves = Array.from({ length: 900 }, (_, number) => `${number}`.padEnd(43, "x"));
  for (const leaf of leaves) {
    const ids = Array.from({ length: 6 }, (_, number) => `${number} ${leaf}`.slice(0, 22));
    assertEquals(await spent.commit(waiting(leaf, ...ids), () => Promise.resolve(true)), true);
  }
  const tiles = Array.from({ length: 12 }, (_, tile): Write => {
    return { kind: "set", key: ["log_tile", String(tile)], value: "x".repeat(11_000) };
  });
  const gone = leaves.map((leaf): Write => ({ kind: "delete", key: [logWaitingRecord.name, leaf] }));
  const growth = { checks: [], writes: [...gone, ...tiles] };
  assertEquals(await spent.commit(growth, (staged) => store.commit(staged)), true);
  assertEquals(new Set((await rows(store)).flat()).size, 5400);
  await store.close();
});

Deno.test("A second use waits for the transaction of the first: it goes through if that one fails, and not if it succeeds", async () => {
  for (const [first, second] of [["fails", true], ["conflicts", true], ["happens", false]]) {
    const spent = await openSpentJwts(() => Promise.resolve([]), {});
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const one = spent.commit(spending("a"), () => promise);
    let began = false;
    const other = spent.commit(spending("a"), () => {
      began = true;
      return Promise.resolve(true);
    });
    await new Promise((next) => setTimeout(next));
    assertEquals(began, false);
    if (first === "fails") {
      reject(new StoreFailure("disk I/O error"));
      await assertRejects(() => one, StoreFailure);
    } else {
      resolve(first === "happens");
      assertEquals(await one, first === "happens");
    }
    assertEquals([await other, began], [second, second]);
  }
});

Deno.test("A record of which nothing is valid any more is forgotten", async () => {
  const spent = await openSpentJwts(() => Promise.resolve([]), {});
  const old = Date.now() - 2 * 3_600_000;
  const write = (id: string, expiresAt: number): Commit => {
    const writes: Write[] = [];
    spentJwtRecord.set({ writes }, keyOf(id), { expiresAt }, expiresAt);
    return { checks: [], writes };
  };
  for (
    const [id, expiresAt] of [["old", old], ["late", Date.now() - 3_500_000], ["new", EXPIRES_AT]] as const
  ) {
    await spent.commit(write(id, expiresAt), () => Promise.resolve(true));
  }
  const found = await spent.getMany(["old", "late", "new"].map(keyOf), () => Promise.resolve([]));
  assertEquals(found.map((entry) => entry !== null), [false, true, true]);
});

Deno.test("Records that are kept for a day are in another row than those of minutes, which leave the file before", async () => {
  const store = await openSqliteStore(":memory:");
  const writes: Write[] = [];
  const day = EXPIRES_AT + 86_400_000;
  for (const [id, expiresAt] of [["a", EXPIRES_AT], ["long", day], ["b", EXPIRES_AT]] as const) {
    spentJwtRecord.set({ writes }, keyOf(id), { expiresAt }, expiresAt);
  }
  assertEquals(await store.commit({ checks: [], writes }), true);
  assertEquals(await rows(store), [["a", "b"], ["long"]]);
  await store.close();
});
