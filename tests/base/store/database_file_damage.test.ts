/** Database files of both engines that have lost a part, were copied, or belong to another program. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { storeCommand } from "../../../scripts/operators/store/main.ts";
import { openDatabase } from "../../../src/base/store/database_file.ts";
import type { Owner } from "../../../src/base/store/store_identity.ts";
import {
  crash,
  ENDINGS,
  forget,
  goBack,
  openFolder,
  overwritePage,
  PLATFORM,
  use,
} from "./database_folder.ts";

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
