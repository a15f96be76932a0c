/** The reads of a request: sent together, read once, and not kept after their use. */
import { assertEquals, assertRejects } from "@std/assert";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { prefetch } from "../../../src/base/store/prefetch.ts";
import type { Key, Store } from "../../../src/base/store/store.ts";

const A: Key = ["a", "1"];
const B: Key = ["b", "1"];

async function openLogged(): Promise<{ store: Store; trips: (readonly Key[])[] }> {
  const kv = await openDenoKv(":memory:");
  const trips: (readonly Key[])[] = [];
  const store: Store = {
    ...kv,
    get(key) {
      trips.push([key]);
      return kv.get(key);
    },
    getMany(keys) {
      trips.push(keys);
      return kv.getMany(keys);
    },
  };
  await kv.commit({ checks: [], writes: [{ kind: "set", key: A, value: "first" }] });
  return { store, trips };
}

Deno.test("prefetch reads what was asked for together in one round trip, each key once", async () => {
  const { store, trips } = await openLogged();
  const reads = prefetch(store);
  reads.ahead([A, B]);
  reads.ahead([B, A]);
  assertEquals((await reads.get(A))?.value, "first");
  assertEquals([await reads.get(B), (await reads.get(A))?.value], [null, "first"]);
  assertEquals(trips, [[A, B]]);
  store.close();
});

Deno.test("prefetch reads keys that were not requested from the store, as they are now", async () => {
  const { store, trips } = await openLogged();
  const reads = prefetch(store);
  assertEquals((await reads.get(A))?.value, "first");
  await store.commit({ checks: [], writes: [{ kind: "set", key: A, value: "second" }] });
  assertEquals((await reads.get(A))?.value, "second");
  assertEquals(trips, [[A], [A]]);
  store.close();
});

Deno.test("prefetch passes a failure only to the reader of the entry", async () => {
  const { store } = await openLogged();
  const reads = prefetch({ ...store, getMany: () => Promise.reject(new Error("the database is gone")) });
  reads.ahead([A]);
  await new Promise((resolve) => setTimeout(resolve)); // an unheard rejection would fail the test here
  await assertRejects(() => reads.get(A), Error, "the database is gone");
  assertEquals(await reads.get(B), null);
  store.close();
});
