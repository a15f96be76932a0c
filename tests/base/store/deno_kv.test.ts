/** The storage contract on Deno KV, in memory and in a file. */
import { assertRejects } from "@std/assert";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { testFiles } from "./file_contract.ts";
import { testStore } from "./store_contract.ts";

testStore({ name: "deno_kv in memory:", open: () => openDenoKv(":memory:") });
testStore({
  name: "deno_kv that keeps entries:",
  open: () => openDenoKv(":memory:", { keeps: () => true }),
});
testFiles({ name: "deno_kv", engine: "deno_kv", open: openDenoKv });

Deno.test("deno_kv does not take a lock whose file a tool has removed, which would lock nobody out", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/platform.kv`;
  try {
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
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
