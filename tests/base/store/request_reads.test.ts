/** The reads of a request: sent together, read once, and not kept after their use. */
import { assertEquals, assertRejects } from "@std/assert";
import { openTestStore } from "testing/test_store.ts";
import { openRequestReads, startRead } from "../../../src/base/store/request_reads.ts";
import type { Key, Store } from "../../../src/base/store/store.ts";

const A: Key = ["a", "1"];
const B: Key = ["b", "1"];

async function openLogged(): Promise<{ store: Store; trips: (readonly Key[])[] }> {
  const kv = await openTestStore();
  const trips: (readonly Key[])[] = [];
  const store: Store = {
    ...kv,
    getMany(keys) {
      trips.push(keys);
      return kv.getMany(keys);
    },
  };
  await kv.commit({ checks: [], writes: [{ kind: "set", key: A, value: "first" }] });
  return { store, trips };
}

Deno.test("Entries requested in one microtask are read in one round trip, each once", async () => {
  const { store, trips } = await openLogged();
  const reads = openRequestReads(store);
  reads.ahead([A]);
  const [a, b, again] = await Promise.all([reads.get(A), reads.get(B), reads.get(A)]);
  assertEquals([a?.value, b, again?.value], ["first", null, "first"]);
  assertEquals((await reads.get(A))?.value, "first");
  assertEquals(trips, [[A, B]]);
  await store.close();
});

Deno.test("An entry requested later is read in a round trip of its own", async () => {
  const { store, trips } = await openLogged();
  const reads = openRequestReads(store);
  await reads.get(A);
  await reads.get(B);
  assertEquals(trips, [[A], [B]]);
  await store.close();
});

Deno.test("forget reads every entry afresh", async () => {
  const { store, trips } = await openLogged();
  const reads = openRequestReads(store);
  assertEquals((await reads.get(A))?.value, "first");
  await store.commit({ checks: [], writes: [{ kind: "set", key: A, value: "second" }] });
  reads.forget();
  assertEquals((await reads.get(A))?.value, "second");
  assertEquals(trips, [[A], [A]]);
  await store.close();
});

Deno.test("A failed read rejects where it is awaited, and no other", async () => {
  const { store } = await openLogged();
  const reads = openRequestReads({ getMany: () => Promise.reject(new Error("the database is gone")) });
  reads.ahead([A]);
  const derived = startRead(reads.get(A).then(() => {}));
  await new Promise((resolve) => setTimeout(resolve)); // an unhandled rejection would fail the test here
  await assertRejects(() => reads.get(A), Error, "the database is gone");
  await assertRejects(() => derived, Error, "the database is gone");
  await store.close();
});
