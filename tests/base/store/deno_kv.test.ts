/** The storage contract on Deno KV, in memory and in a file. */
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { testFiles } from "./file_contract.ts";
import { testStore } from "./store_contract.ts";

testStore({ name: "deno_kv in memory:", open: () => openDenoKv(":memory:") });
testStore({
  name: "deno_kv that keeps entries:",
  open: () => openDenoKv(":memory:", { keeps: () => true }),
});
testFiles({ name: "deno_kv", engine: "deno_kv", open: openDenoKv });
