/** Listings that begin together are read with one statement, and each finds what it finds alone. */
import { assertEquals, assertRejects } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openListings, readListings } from "../../../../src/base/store/postgres/listings.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { type Key, type Listing, StoreFailure } from "../../../../src/base/store/store.ts";
import { isPostgresMissing, newPostgresDatabase } from "support/postgres.ts";

const GROUPS = Array.from({ length: 20 }, (_, group) => `group ${group}`);

Deno.test({
  name: "Twenty listings at once take two statements, and a long one has its own",
  ignore: isPostgresMissing,
  async fn() {
    const connections = await openConnections(readPostgresUrl(await newPostgresDatabase()));
    const store = openPostgresStore(connections);
    for (const group of GROUPS.slice(1)) {
      const keys: Key[] = Array.from({ length: 9 }, (_, index) => [group, `${index}`]);
      const writes = keys.map((key) => ({ kind: "set", key, value: key.join("/") } as const));
      await store.commit({ checks: [], writes });
    }
    const sizes: number[] = [];
    const list = openListings((listings) => {
      sizes.push(listings.length);
      return connections.run((sql) => readListings(sql, listings));
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
  },
});

Deno.test("A listing whose neighbour takes too long is read alone", async () => {
  const sizes: number[] = [];
  const list = openListings((listings) => {
    sizes.push(listings.length);
    const isSlow = listings.some(({ prefix }) => prefix[0] === "slow");
    if (isSlow) return Promise.reject(new StoreFailure("it took too long", "statement"));
    return Promise.resolve(listings.map(({ prefix: key }) => [{ key, value: 1, version: "1" }]));
  });
  const slow = list({ prefix: ["slow"], limit: 1 });
  const quick = list({ prefix: ["quick"], limit: 1 });
  await assertRejects(() => slow, StoreFailure, "it took too long");
  assertEquals((await quick).map(({ key }) => key), [["quick"]]);
  assertEquals(sizes, [2, 1, 1]);
  await assertRejects(() => list({ prefix: ["slow"], limit: 1 }), StoreFailure);
  assertEquals(sizes.length, 4);
});
