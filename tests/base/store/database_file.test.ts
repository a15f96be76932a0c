/** Which database files a program opens, and what it says of the others: damaged, emptied, replaced, another's. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { openDatabase } from "../../../src/base/store/database_file.ts";
import {
  ENDINGS,
  fillUp,
  forget,
  makeNewer,
  openFolder,
  overwritePage,
  PLATFORM,
  prototypeOfHandles,
  sql,
  use,
} from "./database_folder.ts";

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
