/** The storage contract on Deno KV, in memory and in a file. */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { expiryIn, openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { waitUntil } from "testing/waiting.ts";
import { testFiles } from "./file_contract.ts";
import { testStore } from "./store_contract.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

testStore({ name: "deno_kv in memory:", open: () => openDenoKv(":memory:") });
testStore({ name: "deno_kv that keeps entries:", open: () => openDenoKv(":memory:", { keeps: () => true }) });
testFiles({ name: "deno_kv", engine: "deno_kv", open: openDenoKv });

Deno.test("deno_kv does not take a lock whose file a tool has removed, which would lock nobody out", async () => {
  await using folder = await openTemporaryFolder();
  const path = `${folder.path}/platform.kv`;
  const tool = await Deno.open(`${path}.lock`, { create: true, write: true });
  await tool.lock(true);
  const opening = openDenoKv(path); // waits for the tool
  await new Promise((resolve) => setTimeout(resolve, 100));
  await Deno.remove(`${path}.lock`);
  tool.close();
  const store = await opening;
  try {
    await assertRejects(() => openDenoKv(path), Error, "in use by another process");
  } finally {
    await store.close();
  }
});

Deno.test("deno_kv: entries without expiry are in the order of their commits in the index of expiry times", async () => {
  await using folder = await openTemporaryFolder();
  const path = `${folder.path}/platform.kv`;
  const store = await openDenoKv(path);
  const expiresAt = Date.now() + 60_000;
  for (const name of ["c", "a", "b"]) {
    await store.commit({ checks: [], writes: [{ kind: "set", key: [name], value: 1 }] });
    await new Promise((resolve) => setTimeout(resolve, 2)); // the index has milliseconds
  }
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["brief"], value: 1, expiresAt }] });
  await store.close();
  using file = new DatabaseSync(path, { readOnly: true });
  const rows = file.prepare("select k, expiration_ms from kv order by expiration_ms").all();
  const names = rows.map(({ k }) => new TextDecoder().decode((k as Uint8Array).slice(1, -1)));
  assertEquals(names, ["brief", "c", "a", "b"]);
  const [brief, ...others] = rows.map((row) => expiryIn(Number(row["expiration_ms"])));
  assert(Math.abs((brief ?? 0) - expiresAt) < 1000);
  assertEquals(others, [undefined, undefined, undefined]);
});

Deno.test("deno_kv: while a transaction is under way, commits wait, and then go together in the next one", async () => {
  const store = await openDenoKv(":memory:");
  const { commit } = Deno.AtomicOperation.prototype;
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  Deno.AtomicOperation.prototype.commit = async function () {
    begun += 1;
    await gate.promise;
    return await commit.call(this);
  };
  try {
    const commitOne = (name: string): Promise<boolean> =>
      store.commit({ checks: [], writes: [{ kind: "set", key: [name], value: 1 }] });
    const first = commitOne("a");
    await waitUntil("the first transaction has begun", () => Promise.resolve(begun === 1));
    const others = ["b", "c", "d"].map(commitOne);
    await new Promise((next) => setTimeout(next, 20)); // in which a second transaction would begin
    assertEquals(begun, 1);
    gate.resolve();
    assertEquals(await Promise.all([first, ...others]), [true, true, true, true]);
    assertEquals(begun, 2);
  } finally {
    Deno.AtomicOperation.prototype.commit = commit;
    await store.close();
  }
});

Deno.test("getMany of more keys than Deno KV reads at once is one snapshot, while commits write all of them", async () => {
  const folder = await Deno.makeTempDir();
  const store = await openDenoKv(`${folder}/platform.kv`);
  const keys = Array.from({ length: 35 }, (_, n) => ["entry", String(n)]);
  const write = (value: number) =>
    store.commit({ checks: [], writes: keys.map((key) => ({ kind: "set", key, value })) });
  await write(0);
  let [reads, mixed, isOver] = [0, 0, false];
  const readers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const entries = await store.getMany<number>(keys);
      reads += 1;
      if (new Set(entries.map((entry) => entry?.version)).size !== 1) mixed += 1;
    }
  });
  for (let value = 1; value <= 150; value++) await write(value);
  isOver = true;
  await Promise.all(readers);
  assertEquals([mixed, reads > 100, (await store.get(keys[34] ?? []))?.value], [0, true, 150]);
  await store.close();
  await Deno.remove(folder, { recursive: true });
});
