/** Run by `sqlite_file.test.ts` with a limit on the size of files: commits until it is reached, and once more without. */
import { openSqliteStore } from "../../../src/base/store/sqlite_store.ts";
import { StoreFailure } from "../../../src/base/store/store.ts";
import { put, values, write } from "./contract_helpers.ts";

const [file] = Deno.args;
if (file === undefined) throw new Error("which file?");
const versions: number[] = [];
const store = await openSqliteStore(file, { onCommitted: (version) => versions.push(version) });
const value = "x".repeat(60_000);
let commits = 0;
let why = "";
try {
  for (; commits < 200; commits++) {
    await write(store, put(["a"], commits), put(["fill", String(commits)], value));
  }
} catch (error) {
  if (!(error instanceof StoreFailure)) throw error;
  why = error.message;
}
const kept = (await store.list({ prefix: ["fill"], limit: 1000 })).length;
const [a] = values(await store.getMany([["a"]]));
await new Deno.Command("prlimit", { args: [`--pid=${Deno.pid}`, "--fsize=unlimited"] }).output();
const works = await write(store, put(["a"], "again"));
Deno.stdout.writeSync(new TextEncoder().encode(
  JSON.stringify({ why, commits, kept, a, works, versions: versions.length, newest: versions.at(-1) }),
));
await store.close();
