/** Run by `database_file.test.ts` as another process: commits, waits until the newest commit is noted, and is killed. */
import { openDatabase } from "../../../src/base/store/database_file.ts";

const [file] = Deno.args;
if (file === undefined) throw new Error("which file?");
const store = await openDatabase(file, { program: "platform", issuer: "https://auth.example" });
let version = "";
for (let index = 0; index < 30; index++) {
  const key = ["kept", String(index)];
  await store.commit({ checks: [], writes: [{ kind: "set", key, value: "x".repeat(500) }] });
  version = (await store.get(key))?.version.slice(0, 16) ?? "";
}
while (!(await Deno.readTextFile(`${file}.id`)).includes(version)) {
  await new Promise((go) => setTimeout(go, 20));
}
Deno.kill(Deno.pid, "SIGKILL");
