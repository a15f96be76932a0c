/** Which database files a program opens, and what it says of the others: damaged, emptied, replaced, another's. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { storeCommand } from "../../../scripts/store/main.ts";
import { openDatabase } from "../../../src/base/store/database_file.ts";
import type { Owner } from "../../../src/base/store/store_identity.ts";

const PLATFORM: Owner = { program: "platform", issuer: "https://auth.example" };

Deno.test("a database that is new is made for its owner alone, and opened again", async () => {
  await using folder = await openFolder();
  await use(folder.file);
  assertEquals(await use(folder.file), 1);
  for (const name of ["", ".id"]) {
    const { mode } = await Deno.stat(`${folder.file}${name}`);
    assertEquals((mode ?? 0) & 0o777, 0o600, name);
  }
});

Deno.test("a database whose making was interrupted is made anew", async () => {
  await using folder = await openFolder();
  await Deno.writeFile(folder.file, new Uint8Array());
  assertEquals(await use(folder.file), 0);
});

Deno.test("a database of a version that gave no identity is taken over", async () => {
  await using folder = await openFolder();
  await use(folder.file);
  forget(folder.file);
  await Deno.remove(`${folder.file}.id`);
  assertEquals(await use(folder.file), 1);
});

Deno.test("a disk that is full when the .id file is made leaves none, and the next start makes it", async () => {
  await using folder = await openFolder();
  await use(folder.file);
  await Deno.remove(`${folder.file}.id`);
  const { write } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.write = () => Promise.reject(new Error("No space left on device (os error 28)"));
  const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error)
    .finally(() => Deno.FsFile.prototype.write = write);
  assert(message.startsWith(`The file ${folder.file}.id cannot be written: No space left`), message);
  await assertRejects(() => Deno.stat(`${folder.file}.id`), Deno.errors.NotFound);
  assertEquals([await use(folder.file), await use(folder.file)], [1, 2]);
});

Deno.test("a database may move to another computer, with and without its .id file", async () => {
  await using folder = await openFolder();
  await use(folder.file);
  const moved = `${folder.path}/moved.kv`;
  await Deno.rename(folder.file, moved);
  assertEquals(await use(moved), 1);
  await Deno.rename(`${folder.file}.id`, `${moved}.id`);
  assertEquals(await use(moved), 2);
});

const lostWords = "although it was in use here";
const faults: Record<string, readonly [(file: string) => void | Promise<void>, string]> = {
  "deleted": [(file) => Deno.remove(file), `is missing, ${lostWords}`],
  "emptied": [(file) => Deno.truncate(file), `is empty, ${lostWords}`],
  "replaced by an empty database": [(file) => {
    Deno.removeSync(file);
    new DatabaseSync(file).exec("pragma user_version = 1");
  }, `is empty, ${lostWords}`],
  "cut off": [
    (file) => Deno.truncate(file, 6000),
    "is damaged (database disk image is malformed). Restore a backup.",
  ],
  "overwritten in a page": [overwritePage, "is damaged (*** in database main ***"],
  "not a database": [
    (file) => Deno.writeTextFile(file, "no database ".repeat(1000)),
    "is not a database. Name another database, or restore a backup.",
  ],
  "of another program": [(file) => {
    Deno.removeSync(file);
    new DatabaseSync(file).exec("create table account (id)");
  }, "was made by another program. Name another database."],
  "of a newer Deno": [
    (file) => sql(file, "update migration_state set version = 4"),
    "was written by a newer version of Deno. Run that version.",
  ],
  "replaced by one of another deployment with the same address": [
    async (file) => {
      const other = `${file}.other`;
      await use(other);
      await Deno.rename(other, file);
    },
    "is not the one that was in use here",
  ],
  "replaced by an older copy without a mark": [
    async (file) => {
      await Deno.copyFile(file, `${file}.old`);
      await use(file);
      await Deno.rename(`${file}.old`, file);
    },
    "lacks commits that it had",
  ],
};

for (const [what, [spoil, words]] of Object.entries(faults)) {
  Deno.test(`a database that was ${what} is rejected in one sentence, and stays as it is`, async () => {
    await using folder = await openFolder();
    await use(folder.file);
    await spoil(folder.file);
    const before = await contents(folder.file);
    const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error);
    assert(message.includes(words) && message.includes(folder.file) && !message.includes("\n"), message);
    assertEquals(await contents(folder.file), before);
  });
}

Deno.test("a database of which only the write-ahead log is left is rejected, and the log is kept", async () => {
  await using folder = await openFolder();
  await crash(folder.file);
  await Deno.truncate(folder.file);
  const { size } = await Deno.stat(`${folder.file}-wal`);
  const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error);
  assert(
    message.includes(`is empty, but ${folder.file}-wal holds commits of it. Restore a backup.`),
    message,
  );
  assertEquals((await Deno.stat(`${folder.file}-wal`)).size, size);
});

Deno.test("a database whose process was killed is opened with all its commits, and rejected if its log was cut off", async () => {
  await using folder = await openFolder();
  await use(folder.file);
  await crash(folder.file);
  const log = await Deno.readFile(`${folder.file}-wal`);
  const database = await Deno.readFile(folder.file);
  assertEquals(await use(folder.file), 31);
  for (const kept of [0, log.length / 3]) {
    await Deno.writeFile(folder.file, database);
    await Deno.writeFile(`${folder.file}-wal`, log.subarray(0, kept));
    await Deno.remove(`${folder.file}-shm`).catch(() => {});
    const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error);
    assert(message.includes("lacks commits that it had"), message);
  }
});

Deno.test("a database of another program or another address is rejected until it is assigned", async () => {
  await using folder = await openFolder();
  await use(folder.file);
  const of = (owner: Owner): Promise<Error> => assertRejects(() => openDatabase(folder.file, owner), Error);
  const directory = await of({ program: "directory", issuer: PLATFORM.issuer });
  assertEquals(
    directory.message,
    `The database ${folder.file} belongs to a platform, not to a directory. Name another database.`,
  );
  const moved = { ...PLATFORM, issuer: "https://other.example" };
  const elsewhere = await of(moved);
  assert(
    elsewhere.message.includes("belongs to the platform at https://auth.example, not to the one at"),
    elsewhere.message,
  );
  const assigning = ["assign", "--at", folder.file, "--issuer", moved.issuer];
  await storeCommand(assigning, { storeUrl: undefined, now: Date.now() });
  (await openDatabase(folder.file, moved)).close();
  await of(PLATFORM);
});

Deno.test("a marked copy is opened in place of its newer original, and what follows is checked again", async () => {
  await using folder = await openFolder();
  const copy = `${folder.path}/copy.kv`;
  await use(folder.file);
  await storeCommand(["backup", "--to", copy], { storeUrl: folder.file, now: Date.now() });
  for (let more = 0; more < 3; more++) await use(folder.file);
  await Deno.rename(copy, folder.file);
  await Deno.copyFile(folder.file, copy);
  assertEquals(await use(folder.file), 1);
  assertEquals(await use(folder.file), 2);
  forget(folder.file, "store_copy");
  await use(folder.file);
  sql(folder.file, "update data_version set version = 1");
  const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error);
  assert(message.includes("lacks commits that it had"), message);
});

Deno.test("a damaged database is noticed when a backup of it is made", async () => {
  await using folder = await openFolder();
  await use(folder.file);
  overwritePage(folder.file);
  const backup = ["backup", "--to", `${folder.path}/copy.kv`];
  const { message } = await assertRejects(
    () => storeCommand(backup, { storeUrl: folder.file, now: Date.now() }),
    Error,
  );
  assert(message.startsWith(`The database ${folder.file} is damaged (`), message);
});

Deno.test("the lock file of a database is removed only while it is locked", async () => {
  await using folder = await openFolder();
  await use(folder.file);
  const { remove } = Deno;
  const wasFree: boolean[] = [];
  Deno.remove = async (path, options) => {
    if (String(path).endsWith(".lock")) {
      using lock = await Deno.open(path, { write: true });
      wasFree.push(await lock.tryLock(true));
    }
    await remove(path, options);
  };
  const restored = ["restored", "--at", folder.file, "--taken-at", "2026-01-31T12:00:00Z"];
  await storeCommand(restored, { storeUrl: undefined, now: Date.now() }).finally(() => Deno.remove = remove);
  assertEquals(wasFree, [false]);
});

/** Opens the database as the platform does, adds an entry, and returns how many there were. */
async function use(file: string): Promise<number> {
  const store = await openDatabase(file, PLATFORM);
  try {
    const before = (await store.list({ prefix: ["kept"], limit: 100 })).length;
    const write = { kind: "set", key: ["kept", crypto.randomUUID()], value: "x".repeat(500) } as const;
    await store.commit({ checks: [], writes: [write] });
    return before;
  } finally {
    store.close();
  }
}

/** Another process opens the database, makes 30 commits and is killed. */
async function crash(file: string): Promise<void> {
  const program = new URL("./crash.ts", import.meta.url).pathname;
  const args = ["run", "--no-prompt", "--allow-read", "--allow-write", "--allow-run", program, file];
  const { signal, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  assertEquals(signal, "SIGKILL", new TextDecoder().decode(stderr));
}

function sql(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

/** Deletes an entry whose key has one part, as Deno KV encodes it. */
function forget(file: string, key = "store_identity"): void {
  sql(file, `delete from kv where k = x'02${new TextEncoder().encode(key).toHex()}00'`);
}

/** Plants a fault that only reading the page reveals. */
function overwritePage(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  const { root } = database.prepare("select rootpage as root from sqlite_schema where name = 'kv'").get() ??
    {};
  database.close();
  using open = Deno.openSync(file, { write: true });
  open.seekSync((Number(root) - 1) * 4096 + 8, Deno.SeekMode.Start);
  open.writeSync(new Uint8Array(16).fill(0xaa));
}

async function contents(file: string): Promise<string> {
  return (await Deno.readFile(file).catch(() => new Uint8Array())).toHex();
}

interface Folder extends AsyncDisposable {
  readonly path: string;
  readonly file: string;
}

async function openFolder(): Promise<Folder> {
  const path = await Deno.makeTempDir({ prefix: "database-" });
  const dispose = (): Promise<void> => Deno.remove(path, { recursive: true });
  return { path, file: `${path}/platform.kv`, [Symbol.asyncDispose]: dispose };
}
