/** The storage contract on `node:sqlite`, in memory and in a file. */
import { assert } from "@std/assert";
import { openSqliteStore } from "../../../src/base/store/sqlite_store.ts";
import { openFolder } from "./database_folder.ts";
import { testFiles } from "./file_contract.ts";
import { testStore } from "./store_contract.ts";

testStore({ name: "sqlite in memory:", open: () => openSqliteStore(":memory:") });
testFiles({ name: "sqlite", engine: "sqlite", open: openSqliteStore });

Deno.test("sqlite: several megabytes of commits wait in the write-ahead log before the table gets them", async () => {
  await using folder = await openFolder("platform.sqlite");
  const store = await openSqliteStore(folder.file);
  const sizes = async (): Promise<number[]> =>
    await Promise.all([folder.file, `${folder.file}-wal`].map(async (file) => (await Deno.stat(file)).size));
  const [before = 0] = await sizes();
  const value = "x".repeat(60_000);
  for (let number = 0; number < 100; number++) {
    await store.commit({ checks: [], writes: [{ kind: "set", key: ["large", `${number}`], value }] });
  }
  const [after = 0, log = 0] = await sizes();
  await store.close();
  assert(after === before && log > 6_000_000, `${before}, ${after} and ${log} bytes`);
});
