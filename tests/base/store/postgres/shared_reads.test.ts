/** Reads that begin together are one statement, and each finds what it finds alone. */
import { assertEquals, assertRejects } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import {
  openSharedReads,
  type Read,
  readTogether,
} from "../../../../src/base/store/postgres/shared_reads.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { type Entry, type Key, type Listing, StoreFailure } from "../../../../src/base/store/store.ts";
import { newPostgresDatabase, test } from "support/postgres.ts";

const GROUPS = Array.from({ length: 20 }, (_, group) => `group ${group}`);

test("Twenty listings at once take two statements, and a long one has its own", async () => {
  const connections = await openConnections(readPostgresUrl(await newPostgresDatabase()));
  const store = openPostgresStore(connections);
  for (const group of GROUPS.slice(1)) {
    const keys: Key[] = Array.from({ length: 9 }, (_, index) => [group, `${index}`]);
    const writes = keys.map((key) => ({ kind: "set", key, value: key.join("/") } as const));
    await store.commit({ checks: [], writes });
  }
  const sizes: number[] = [];
  const { list } = openSharedReads((listings) => {
    sizes.push(listings.length);
    return connections.run((sql) => readTogether(sql, listings));
  });
  const listings: Listing[] = GROUPS.map((group, index) => ({
    prefix: [group],
    limit: 1 + index % 12,
    ...index % 3 === 0 ? { after: [group, "4"] } : {},
  }));
  const long = { prefix: [], limit: 1000 };
  const [all, ...found] = await Promise.all([list(long), ...listings.map(list)]);
  assertEquals(sizes, [1, 16, 4]);
  assertEquals(all?.length, 19 * 9);
  for (const [index, listing] of listings.entries()) {
    assertEquals(found[index], await store.list(listing), JSON.stringify(listing));
    const { after, limit, prefix: [group = ""] } = listing;
    const expected = index === 0 ? [] : Array.from({ length: 9 }, (_, place) => `${group}/${place}`)
      .slice(after === undefined ? 0 : 5).slice(0, limit);
    assertEquals(found[index]?.map(({ value }) => value), expected);
  }
  assertEquals(await Promise.all([list(long), list(long)].map(async (one) => (await one).length)), [
    171,
    171,
  ]);
  await store.close();
});

Deno.test("A listing whose neighbour takes too long is read alone", async () => {
  const sizes: number[] = [];
  const { list } = openSharedReads((listings) => {
    sizes.push(listings.length);
    const isSlow = listings.some((read) => "prefix" in read && read.prefix[0] === "slow");
    if (isSlow) return Promise.reject(new StoreFailure("it took too long", "statement"));
    const found = (
      read: Read,
    ): Entry<unknown>[] => [{ key: "key" in read ? read.key : read.prefix, value: 1, version: "1" }];
    return Promise.resolve(listings.map(found));
  });
  const slow = list({ prefix: ["slow"], limit: 1 });
  const quick = list({ prefix: ["quick"], limit: 1 });
  await assertRejects(() => slow, StoreFailure, "it took too long");
  assertEquals((await quick).map(({ key }) => key), [["quick"]]);
  assertEquals(sizes, [2, 1, 1]);
  await assertRejects(() => list({ prefix: ["slow"], limit: 1 }), StoreFailure);
  assertEquals(sizes.length, 4);
});

test("A key that is read while listings wait goes with them, and alone otherwise", async () => {
  const connections = await openConnections(readPostgresUrl(await newPostgresDatabase()));
  const store = openPostgresStore(connections);
  const [there, missing]: Key[] = [["one", "1"], ["one", "2"]];
  await store.commit({ checks: [], writes: [{ kind: "set", key: there ?? [], value: { v: 1 } }] });
  const sizes: number[] = [];
  const { list, join } = openSharedReads((reads) => {
    sizes.push(reads.length);
    return connections.run((sql) => readTogether(sql, reads));
  });
  assertEquals(join(there ?? []), undefined);
  const [listed, joined, nothing] = await Promise.all([
    list({ prefix: ["one"], limit: 5 }),
    join(there ?? []),
    join(missing ?? []),
  ]);
  assertEquals(sizes, [3]);
  assertEquals([listed, joined, nothing], [
    [await store.get(there ?? [])],
    [await store.get(there ?? [])],
    [],
  ]);
  assertEquals(join(there ?? []), undefined);
  const together = await Promise.all([store.list({ prefix: ["one"], limit: 5 }), store.get(missing ?? [])]);
  assertEquals(together[1], null);
  await store.close();
});
