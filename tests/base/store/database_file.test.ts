/**
 * Which database files a program opens, and what it says of the others: damaged, emptied, replaced, another's. Database
 * files of both engines that have lost a part, were copied, or belong to another program.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { openDatabase } from "../../../src/base/store/database_file.ts";
import {
  crash,
  ENDINGS,
  fillUp,
  forget,
  goBack,
  makeNewer,
  openFolder,
  overwritePage,
  PLATFORM,
  prototypeOfHandles,
  sql,
  use,
} from "./database_folder.ts";
import { storeCommand } from "../../../scripts/operators/store/main.ts";
import type { Owner } from "../../../src/base/store/store_identity.ts";

const lostWords = "although it was in use here";

const faults: Record<string, readonly [(file: string) => void | Promise<void>, string]> = {
  "deleted": [(file) => Deno.remove(file), `is missing, ${lostWords}`],
  "emptied": [(file) => Deno.truncate(file), `is empty, ${lostWords}`],
  "replaced by an empty database": [(file) => {
    Deno.removeSync(file);
    new DatabaseSync(file).exec("pragma user_version = 1");
  }, `is empty, ${lostWords}`],
  "cut off": [
    (file) => Deno.truncate(file, 3000),
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
  "of a newer version": [makeNewer, "was written by a newer version of"],
  "replaced by one of another deployment with the same address": [
    async (file) => {
      const other = file.replace("platform", "other");
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

for (const ending of ENDINGS) {
  Deno.test(`.${ending}: a database that is new is made for its owner alone, and opened again`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await use(folder.file);
    assertEquals(await use(folder.file), 1);
    for (const name of ["", ".id"]) {
      const { mode } = await Deno.stat(`${folder.file}${name}`);
      assertEquals((mode ?? 0) & 0o777, 0o600, name);
    }
    using database = new DatabaseSync(folder.file, { readOnly: true });
    const { page_size } = database.prepare("pragma page_size").get() ?? {};
    assertEquals(page_size, 1024);
  });

  Deno.test(`.${ending}: a database whose making was interrupted is made anew`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await Deno.writeFile(folder.file, new Uint8Array());
    assertEquals(await use(folder.file), 0);
    await using other = await openFolder(`platform.${ending}`);
    sql(other.file, "pragma page_size = 1024; pragma user_version = 0"); // its page size was set, and the engine did not open it
    assertEquals((await Deno.stat(other.file)).size, 1024);
    assertEquals(await use(other.file), 0);
  });

  Deno.test(`.${ending}: a database of a version that gave no identity is taken over`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await use(folder.file);
    forget(folder.file);
    await Deno.remove(`${folder.file}.id`);
    assertEquals(await use(folder.file), 1);
  });

  Deno.test(`.${ending}: a disk that is full when the .id file is made leaves none, and the next start makes it`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await use(folder.file);
    await Deno.remove(`${folder.file}.id`);
    const handles = await prototypeOfHandles(folder.file);
    const { write } = handles;
    handles.write = () => Promise.reject(new Error("ENOSPC: no space left on device, write"));
    const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error)
      .finally(() => handles.write = write);
    assert(message.startsWith(`The file ${folder.file}.id cannot be written: ENOSPC`), message);
    await assertRejects(() => Deno.stat(`${folder.file}.id`), Deno.errors.NotFound);
    assertEquals([await use(folder.file), await use(folder.file)], [1, 2]);
  });

  Deno.test(`.${ending}: a database that fails while it gets its identity is named in one sentence, and is closed`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await use(folder.file);
    forget(folder.file);
    await Deno.remove(`${folder.file}.id`);
    fillUp(folder.file);
    const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error);
    assertEquals(message, `The database ${folder.file} cannot be used: database or disk is full.`);
    sql(folder.file, "drop trigger full");
    assertEquals(await use(folder.file), 1);
  });

  Deno.test(`.${ending}: a database may move to another computer, with and without its .id file`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await use(folder.file);
    const moved = `${folder.path}/moved.${ending}`;
    await Deno.rename(folder.file, moved);
    assertEquals(await use(moved), 1);
    await Deno.rename(`${folder.file}.id`, `${moved}.id`);
    assertEquals(await use(moved), 2);
  });

  for (const [what, [spoil, words]] of Object.entries(faults)) {
    Deno.test(`.${ending}: a database that was ${what} is rejected in one sentence, and stays as it is`, async () => {
      await using folder = await openFolder(`platform.${ending}`);
      await use(folder.file);
      await spoil(folder.file);
      const before = await contents(folder.file);
      const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error);
      assert(message.includes(words) && message.includes(folder.file) && !message.includes("\n"), message);
      assertEquals(await contents(folder.file), before);
    });
  }
}

async function contents(file: string): Promise<string> {
  return (await Deno.readFile(file).catch(() => new Uint8Array())).toHex();
}

for (const ending of ENDINGS) {
  Deno.test(`.${ending}: a database of which only the write-ahead log is left is rejected, and the log is kept`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
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

  Deno.test(`.${ending}: a database whose process was killed is opened with all its commits, and rejected if its log was cut off`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
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

  Deno.test(`.${ending}: a database of another program or another address is rejected until it is assigned`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
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

  Deno.test(`.${ending}: a marked copy is opened in place of its newer original, and what follows is checked again`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    const copy = `${folder.path}/copy.${ending}`;
    await use(folder.file);
    await storeCommand(["backup", "--to", copy], { storeUrl: folder.file, now: Date.now() });
    for (let more = 0; more < 3; more++) await use(folder.file);
    await Deno.rename(copy, folder.file);
    await Deno.copyFile(folder.file, copy);
    assertEquals(await use(folder.file), 1);
    assertEquals(await use(folder.file), 2);
    forget(folder.file, "store_copy");
    await use(folder.file);
    goBack(folder.file);
    const { message } = await assertRejects(() => openDatabase(folder.file, PLATFORM), Error);
    assert(message.includes("lacks commits that it had"), message);
  });

  Deno.test(`.${ending}: a damaged database is noticed when a backup of it is made`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await use(folder.file);
    overwritePage(folder.file);
    const backup = ["backup", "--to", `${folder.path}/copy.${ending}`];
    const { message } = await assertRejects(
      () => storeCommand(backup, { storeUrl: folder.file, now: Date.now() }),
      Error,
    );
    assert(message.startsWith(`The database ${folder.file} is damaged (`), message);
  });

  Deno.test(`.${ending}: a backup that cannot be made leaves no file behind, and can be made again`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await use(folder.file);
    const whole = await Deno.readFile(folder.file);
    await Deno.writeTextFile(folder.file, "no database ".repeat(1000));
    const copy = `${folder.path}/copy.${ending}`;
    const make = (): Promise<string> =>
      storeCommand(["backup", "--to", copy], { storeUrl: folder.file, now: Date.now() });
    await assertRejects(make, Error, "file is not a database");
    const left = [...Deno.readDirSync(folder.path)].map(({ name }) => name);
    assertEquals(left.filter((name) => name.startsWith("copy.")), []);
    await Deno.writeFile(folder.file, whole);
    assert((await make()).startsWith(`${copy} holds every commit`));
  });

  Deno.test(`.${ending}: the lock file of a database is removed only while it is locked`, async () => {
    await using folder = await openFolder(`platform.${ending}`);
    await use(folder.file);
    const { remove } = Deno;
    const found: string[] = [];
    Deno.remove = async (path, options) => {
      if (String(path).endsWith(".lock")) {
        found.push((await assertRejects(() => openDatabase(folder.file, PLATFORM), Error)).message);
      }
      await remove(path, options);
    };
    const restored = ["restored", "--at", folder.file, "--taken-at", "2026-01-31T12:00:00Z"];
    await storeCommand(restored, { storeUrl: undefined, now: Date.now() }).finally(() =>
      Deno.remove = remove
    );
    assertEquals(found, [`The database ${folder.file} is in use by another process; stop that one first.`]);
  });
}
