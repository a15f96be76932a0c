/** Which `.sqlite` files a program opens, and what it says of the others. The other files are Deno KV's. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { storeCommand } from "../../../scripts/operators/store/main.ts";
import { openStore } from "../../../src/base/store/open_store.ts";
import { openSqliteStore } from "../../../src/base/store/sqlite_store.ts";
import { put, write } from "./contract_helpers.ts";
import type { Write } from "../../../src/base/store/store.ts";
import { type Folder, openFolder, PLATFORM, sql, use } from "./database_folder.ts";

const openSqliteFolder = (): Promise<Folder> => openFolder("platform.sqlite");

Deno.test("a .sqlite file is made by SQLite, for its owner alone, with its log, lock and .id", async () => {
  await using folder = await openSqliteFolder();
  const store = await openStore(folder.file, PLATFORM);
  await write(store, put(["kept", "a"], 1));
  for (const name of ["", ".id", ".lock", "-wal", "-shm"]) {
    const { mode } = await Deno.stat(`${folder.file}${name}`);
    assertEquals((mode ?? 0) & 0o777, 0o600, name);
  }
  await store.close();
  assertEquals([await use(folder.file), await use(folder.file)], [1, 2]);
  const database = new DatabaseSync(folder.file, { readOnly: true });
  assertEquals(database.prepare("pragma journal_mode").get()?.["journal_mode"], "wal");
  database.close();
});

Deno.test("the data key store of a .sqlite file is one too", async () => {
  await using folder = await openSqliteFolder();
  await (await openStore(`${folder.file}.keys`, { ...PLATFORM, program: "data-keys" })).close();
  sql(`${folder.file}.keys`, "select * from hub_entry");
});

Deno.test("a .sqlite file that was replaced by a Deno KV file is rejected in one sentence", async () => {
  await using folder = await openSqliteFolder();
  await use(folder.file);
  await use(`${folder.file}.kv`);
  await Deno.rename(`${folder.file}.kv`, folder.file);
  const { message } = await assertRejects(() => openStore(folder.file, PLATFORM), Error);
  assertEquals(message, `The database ${folder.file} was made by another program. Name another database.`);
});

Deno.test("a .sqlite file loses a hundred entries that have expired with a commit, and looks for more a second after the last", async () => {
  const { now } = performance;
  let at = 0;
  performance.now = () => at;
  const store = await openSqliteStore(":memory:");
  const past = (index: number): Write => {
    return { kind: "set", key: ["past", `${index}`], value: 1, expiresAt: Date.now() - 1 };
  };
  const leftAfter = async (ms: number, ...writes: readonly Write[]): Promise<number> => {
    at += ms;
    await write(store, ...writes);
    return (await store.list({ prefix: ["past"], limit: 300 })).length;
  };
  try {
    const later: Write = { kind: "set", key: ["later"], value: 1, expiresAt: Date.now() + 60_000 };
    const many = Array.from({ length: 250 }, (_, index) => past(index));
    const [none, one] = [put(["kept"], 1), past(0)];
    assertEquals([await leftAfter(0, later, ...many), await leftAfter(0, none)], [150, 50]);
    assertEquals([await leftAfter(0, none), await leftAfter(0, one), await leftAfter(999, none)], [0, 1, 1]);
    assertEquals([await leftAfter(1, none), await leftAfter(999, one), await leftAfter(1, none)], [0, 1, 0]);
    assert(await store.get(["later"]) !== null && await store.get(["kept"]) !== null);
    await store.close();
  } finally {
    performance.now = now;
  }
});

Deno.test("a value of 65,536 characters of JSON is stored, and a larger one is a bug of the program", async () => {
  const store = await openSqliteStore(":memory:");
  const most = "x".repeat(65_536 - '""'.length);
  assertEquals(await write(store, put(["a"], most)), true);
  const words = "a value has 65537 characters of JSON, at most 65536 are allowed";
  await assertRejects(() => write(store, put(["a"], `${most}x`)), TypeError, words);
  assertEquals((await store.get(["a"]))?.value, most);
  await store.close();
});

Deno.test("a .sqlite file that another program has locked is waited for, then the commit happens", async () => {
  await using folder = await openSqliteFolder();
  const store = await openSqliteStore(folder.file);
  const shell = new DatabaseSync(folder.file);
  shell.exec("begin immediate");
  let isDone = false;
  const committed = write(store, put(["a"], 1)).then((done) => isDone = done);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assertEquals([isDone, await store.get(["a"])], [false, null]); // and reads go on
  shell.exec("rollback");
  assertEquals(await committed, true);
  shell.close();
  await store.close();
});

/** The output of `fill_disk.ts`. */
interface FilledDisk {
  readonly why: string;
  readonly commits: number;
}

Deno.test("a .sqlite file on a full disk fails as a database, keeps what was committed, and works again", async () => {
  await using folder = await openSqliteFolder();
  const program = new URL("./fill_disk.ts", import.meta.url).pathname;
  const limited =
    'trap "" XFSZ; ulimit -S -f 2000; exec "$0" run --no-prompt --allow-read --allow-write --allow-run "$@"';
  const { stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", limited, Deno.execPath(), program, folder.file],
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert(text !== "", new TextDecoder().decode(stderr));
  const { why, commits, ...found } = JSON.parse(text) as FilledDisk;
  assert(["database or disk is full", "disk I/O error"].includes(why), why);
  assert(commits > 1, `${commits}`);
  assertEquals(found, {
    kept: commits,
    a: commits - 1,
    works: true,
    versions: commits + 1,
    newest: commits + 1,
  });
});

Deno.test("a .sqlite file is backed up in use, restored as a marked copy, and copied from and to Deno KV", async () => {
  await using folder = await openSqliteFolder();
  const run = (...args: string[]): Promise<string> =>
    storeCommand(args, { storeUrl: folder.file, now: Date.now() });
  await use(folder.file);
  const running = await openStore(folder.file, PLATFORM);
  const backup = `${folder.path}/backup.sqlite`;
  await run("backup", "--to", backup);
  await running.close();
  const { message } = await assertRejects(() => run("backup", "--to", `${folder.path}/backup.kv`), Error);
  assert(message.includes("ends with .sqlite"), message);
  await use(folder.file);
  await Deno.rename(backup, folder.file); // older than what was last in use here, so only its mark lets it in
  assertEquals(await use(folder.file), 1);
  const [kv, back] = [`${folder.path}/copy.kv`, `${folder.path}/back.sqlite`];
  const first = await run("copy", "--to", kv);
  const second = await run("copy", "--from", kv, "--to", back);
  const digest = /SHA-256 [0-9a-f]{64}/;
  assertEquals(digest.exec(first)?.[0], digest.exec(second)?.[0]);
  assertEquals(await use(back), 2);
});

Deno.test("a file of Deno KV is refused where there is no Deno KV, and names the other engine", async () => {
  await using folder = await openFolder();
  const { openKv } = Deno;
  Reflect.deleteProperty(Deno, "openKv");
  try {
    const { message } = await assertRejects(() => openStore(folder.file, PLATFORM), Error);
    assert(message.endsWith("only Deno opens Deno KV files. Name a path that ends with .sqlite."), message);
  } finally {
    Object.assign(Deno, { openKv });
  }
});

Deno.test("a .sqlite file has nothing of a commit of which one write fails, and takes the next one", async () => {
  await using folder = await openSqliteFolder();
  const store = await openSqliteStore(folder.file);
  sql(
    folder.file,
    "create trigger refuse before insert on hub_entry when new.value = '2' begin select raise(abort, 'no'); end",
  );
  await assertRejects(() => write(store, put(["a"], 1), put(["b"], 2)), Error, "no");
  assertEquals(await store.getMany([["a"], ["b"]]), [null, null]);
  assertEquals(await write(store, put(["b"], 3)), true);
  await store.close();
});

Deno.test("a .sqlite file takes commits of requests that arrive one after the other in one transaction", async () => {
  await using folder = await openSqliteFolder();
  let transactions = 0;
  const store = await openSqliteStore(folder.file, { onCommitted: () => transactions++ });
  await Promise.all(Array.from({ length: 8 }, async (_, index) => {
    for (let step = 0; step < 10 * index; step++) await undefined;
    await write(store, put(["a", String(index)], index));
  }));
  assertEquals([transactions, (await store.list({ prefix: ["a"], limit: 10 })).length], [1, 8]);
  await store.close();
});
