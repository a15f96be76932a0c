/**
 * A statement that fails alone: its neighbours do not fail with it, and the database counts as working. Commits that
 * wait for each other's entries never wait in a circle.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { monotonicClock } from "../../../../src/base/kernel/clock.ts";
import { guardStore } from "../../../../src/base/store/guarded_store.ts";
import {
  type Connections,
  openConnections,
  SERVING,
  UNHURRIED,
} from "../../../../src/base/store/postgres/connections.ts";
import { encodeKey } from "../../../../src/base/store/postgres/key_codec.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import type { Commit, Entry, Store } from "../../../../src/base/store/store.ts";
import { newPostgresDatabase, test } from "support/postgres.ts";
import { waitUntil } from "testing/waiting.ts";

const [first, second] = [["a"], ["b"]];
const both: Commit = { checks: [], writes: [first, second].map((key) => ({ kind: "set", key, value: 1 })) };

/** The number of sessions that wait for a lock. */
async function waiting(others: Connections): Promise<number> {
  const [row] = await others.run((sql) =>
    sql<{ waiting: number }[]>`
      select count(*)::integer as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
  );
  return row?.waiting ?? 0;
}

test("A commit that a lock stops until its time ends fails alone, and readiness stays on", async () => {
  const url = await newPostgresDatabase();
  const others = await openConnections(readPostgresUrl(url), UNHURRIED);
  const connections = await openConnections(readPostgresUrl(`${url}&connections=2`), {
    ...SERVING,
    statementMs: 400,
  });
  const events: string[] = [];
  const store = guardStore(openPostgresStore(connections), {
    elapsed: monotonicClock,
    failing: (why) => events.push(why),
    working: () => {},
  });
  await store.commit(both);
  const [isHeld, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = others.run((sql) =>
    sql.begin(async (tx) => {
      await tx`select from hub.entry where key = ${encodeKey(second)}::bytea for update`;
      isHeld.resolve();
      await release.promise;
    })
  ); // ends within the time of an unhurried statement
  await isHeld.promise;
  let ended = false;
  const stopped = assertRejects(() => store.commit(both), ApiError).finally(() => ended = true);
  const neighbours = Array.from({ length: 8 }, async () => {
    let reads = 0;
    for (; !ended; reads++) await store.get(first);
    return reads > 0;
  });
  assertEquals((await stopped).reason, "store.unavailable");
  assertEquals(await Promise.all(neighbours), neighbours.map(() => true));
  assertEquals([events, store.isFailing(), await store.isWorking()], [[], false, true]);
  release.resolve();
  await holder;
  assertEquals(await store.commit(both), true);
  await store.close();
  await others.close();
});

test("A commit that is the victim of a deadlock is repeated", async () => {
  const url = await newPostgresDatabase();
  const others = await openConnections(readPostgresUrl(url), UNHURRIED);
  const store = openPostgresStore(await openConnections(readPostgresUrl(url)));
  await store.commit(both);
  const [isHeld, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const other = others.run((sql) =>
    sql.begin(async (tx) => {
      await tx`set local deadlock_timeout = '1h'`;
      await tx`select from hub.entry where key = ${encodeKey(second)}::bytea for update`;
      isHeld.resolve();
      await goOn.promise;
      await tx`select from hub.entry where key = ${encodeKey(first)}::bytea for update`;
    })
  );
  await isHeld.promise;
  const victim = store.commit(both); // locks the first entry, waits for the second one
  while (await waiting(others) === 0) { /* until it waits for the lock */ }
  goOn.resolve();
  assertEquals(await victim, true);
  await other;
  const [count] = await others.run((sql) =>
    sql<{ deadlocks: string }[]>`
      select pg_stat_clear_snapshot(), deadlocks from pg_stat_database where datname = current_database()`
  );
  assertEquals(count?.deadlocks, "1");
  await store.close();
  await others.close();
});

test("A commit whose entry another one inserts meanwhile is repeated: it fails if it wanted none, and else it follows", async () => {
  const url = await newPostgresDatabase();
  const others = await openConnections(readPostgresUrl(url), UNHURRIED);
  const store = openPostgresStore(await openConnections(readPostgresUrl(url)));
  const checks = [{ key: second, version: null }];
  const cases = [
    [{ checks, writes: both.writes }, false, 0],
    [{ checks, writes: both.writes.slice(0, 1) }, false, 0],
    [both, true, 1],
  ] as const;
  for (const [commit, isDone, value] of cases) {
    const [isInserted, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = others.run((sql) =>
      sql.begin(async (tx) => {
        await tx`insert into hub.entry values (${encodeKey(second)}::bytea, '0', gen_random_uuid())`;
        isInserted.resolve();
        await goOn.promise;
      })
    );
    await isInserted.promise;
    const done = store.commit(commit);
    while (await waiting(others) === 0) { /* until it waits for the insertion */ }
    goOn.resolve();
    await other;
    const outcome = [await done, (await store.get(first))?.value, (await store.get(second))?.value];
    assertEquals(outcome, [isDone, isDone ? 1 : undefined, value]);
    await store.commit({ checks: [], writes: [first, second].map((key) => ({ kind: "delete", key })) });
  }
  await store.close();
  await others.close();
});

test("Reads and commits that a stopping server interrupts are repeated on its next connections until they are answered", async () => {
  const url = await newPostgresDatabase();
  const others = await openConnections(readPostgresUrl(url), UNHURRIED);
  const one = readPostgresUrl(`${url}&connections=1`); // the driver fails the next statement of a connection too
  const stores = await Promise.all(
    [1, 2, 3, 4].map(async () => openPostgresStore(await openConnections(one))),
  );
  const [get, getMany, list, commit] = stores as [Store, Store, Store, Store];
  await get.commit(both);
  await Promise.all(stores.map((store) => store.get(first)));
  const answers = await others.run((sql) =>
    sql.begin(async (tx) => {
      await tx`lock table hub.entry in access exclusive mode`;
      const all = Promise.all([
        get.get(first),
        getMany.getMany([first]),
        list.list({ prefix: first, limit: 1 }),
        commit.commit(both),
      ]);
      all.catch(() => {});
      while (await waiting(others) < stores.length) { /* until all wait for the lock */ }
      await tx`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return { all };
    })
  );
  const [found, many, listed, done] = await answers.all;
  assertEquals([found?.value, many.map((entry) => entry?.value), listed.length, done], [1, [1], 0, true]);
  for (const store of stores) await store.close();
  await others.close();
});

test("A commit that finds a new entry of another one fails at once, although a third one has locked that entry meanwhile [G10]", async () => {
  const connections = await openConnections(readPostgresUrl(await newPostgresDatabase()), UNHURRIED);
  const store = openPostgresStore(connections);
  const [fresh, hot, held] = [["a"], ["b"], ["c"]];
  await store.commit({ checks: [], writes: [hot, held].map((key) => ({ kind: "set", key, value: 0 })) });
  const entries = await store.getMany([hot, held]);

  const [isHeld, hold] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = connections.run((sql) =>
    sql.begin(async (tx) => {
      await tx`select from hub.entry where key = ${encodeKey(held)}::bytea for update`;
      isHeld.resolve();
      await hold.promise;
    })
  );
  await isHeld.promise;
  const first = store.commit(change(entries, fresh)); // locks hot, waits for held
  await untilWaiting(connections, 1);
  assertEquals(await insert(store, fresh), true);
  const second = store.commit(change(entries.slice(0, 1), fresh)); // locks fresh, waits for hot
  await untilWaiting(connections, 2);
  hold.resolve();
  await holder;
  assertEquals(await Promise.all([first, second]), [false, false]);

  const [count] = await connections.run((sql) =>
    sql<{ deadlocks: string }[]>`
      select pg_stat_clear_snapshot(), deadlocks from pg_stat_database where datname = current_database()`
  );
  assertEquals(count?.deadlocks, "0");
  await store.close();
});

/** A change of entries that also inserts one. */
function change(entries: readonly (Entry<unknown> | null)[], fresh: readonly string[]): Commit {
  const changed = entries.flatMap((entry) => entry === null ? [] : [entry]);
  return {
    checks: [...changed.map(({ key, version }) => ({ key, version })), { key: fresh, version: null }],
    writes: [...changed.map(({ key }) => key), fresh].map((key) => ({ kind: "set", key, value: 1 })),
  };
}

function insert(store: Store, key: readonly string[]): Promise<boolean> {
  return store.commit({ checks: [{ key, version: null }], writes: [{ kind: "set", key, value: 1 }] });
}

function untilWaiting(connections: Connections, count: number): Promise<void> {
  return waitUntil(`${count} commits wait`, async () => {
    const [row] = await connections.run((sql) =>
      sql<{ waiting: number }[]>`
        select count(*)::integer as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`
    );
    return (row?.waiting ?? 0) >= count;
  });
}
