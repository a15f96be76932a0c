/** Commits that wait for each other's entries never wait in a circle. */
import { assertEquals } from "@std/assert";
import {
  type Connections,
  openConnections,
  UNHURRIED,
} from "../../../../src/base/store/postgres/connections.ts";
import { encodeKey } from "../../../../src/base/store/postgres/key_codec.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import type { Commit, Entry, Store } from "../../../../src/base/store/store.ts";
import { newPostgresDatabase, test } from "support/postgres.ts";
import { waitUntil } from "testing/waiting.ts";

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
