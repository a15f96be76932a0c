/** Run by `file_contract.ts` as another process: opens the file, commits, says so and holds on until it is killed. */
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { openSqliteStore } from "../../../src/base/store/sqlite_store.ts";

const [engine, file] = Deno.args;
if (file === undefined) throw new Error("which file?");
const store = await (engine === "sqlite" ? openSqliteStore : openDenoKv)(file);
for (let index = 0; index < 20; index++) {
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["kept", String(index)], value: index }] });
}
Deno.stdout.writeSync(new TextEncoder().encode("ready\n"));
setInterval(() => store.get(["kept"]), 60_000);
