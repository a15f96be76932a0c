/** The file beside a database that names its newest commit. */
import { assertEquals, assertRejects } from "@std/assert";
import { openLastSeen, readLastSeen } from "../../../src/base/store/last_seen.ts";
import { prototypeOfHandles } from "./database_folder.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

Deno.test("a slow disk does not make two writes of the .id file overlap", async () => {
  await using folder = await openTemporaryFolder();
  const path = `${folder.path}/platform.kv`;
  const id = crypto.randomUUID();
  const file = await openLastSeen(path, { id, version: 1 });
  const alive = setInterval(() => {}, 1000); // the file's own timer does not keep the process
  const handles = await prototypeOfHandles(`${path}.id`);
  const { write } = handles;
  const began = Promise.withResolvers<void>();
  const disk = Promise.withResolvers<void>();
  let underWay = 0;
  const atOnce = new Set<number>();
  handles.write = async function (...what: unknown[]): Promise<unknown> {
    atOnce.add(++underWay);
    began.resolve();
    await disk.promise;
    return await write.apply(this, what).finally(() => underWay--);
  };
  try {
    file.note(2);
    await began.promise;
    file.note(3);
    await new Promise((done) => setTimeout(done, 1200)); // as long as a second write would take to begin
    disk.resolve();
    while (!(await Deno.readTextFile(`${path}.id`)).includes('0003"')) {
      await new Promise((done) => setTimeout(done, 20));
    }
    assertEquals(await readLastSeen(path), { id, version: 3 });
    assertEquals([...atOnce], [1]);
  } finally {
    handles.write = write;
    clearInterval(alive);
    await file.close();
  }
});

async function inFolder(work: (path: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "last-seen-" });
  await work(`${folder}/platform.kv`, folder).finally(() => Deno.remove(folder, { recursive: true }));
}

const ID = "0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00";
const textOf = (version: string): string => `{"id":"${ID}","version":"${version}"}\n`;

Deno.test("the .id file has the newest commit, for its owner alone, a second after it and when it is closed", async () => {
  await inFolder(async (path, folder) => {
    assertEquals(await readLastSeen(path), undefined);
    const file = await openLastSeen(path, { id: ID, version: 0xab });
    assertEquals(await Deno.readTextFile(`${path}.id`), textOf("00000000000000ab"));
    assertEquals(((await Deno.stat(`${path}.id`)).mode ?? 0) & 0o777, 0o600);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["platform.kv.id"]);
    const alive = setInterval(() => {}, 1000);
    const began = performance.now();
    for (const version of [0xad, 0xac, 0xaa]) file.note(version);
    assertEquals(Deno.readTextFileSync(`${path}.id`), textOf("00000000000000ab"), "not at once");
    while (await Deno.readTextFile(`${path}.id`) !== textOf("00000000000000ad")) {
      await new Promise((done) => setTimeout(done, 20));
    }
    clearInterval(alive);
    assertEquals(performance.now() - began >= 999, true, "once a second");
    file.note(0xae);
    const handles = await prototypeOfHandles(`${path}.id`);
    const { close } = handles;
    let closed = 0;
    handles.close = function (): Promise<void> {
      closed++;
      return close.call(this);
    };
    await file.close().finally(() => handles.close = close);
    assertEquals(closed, 1);
    assertEquals(await readLastSeen(path), { id: ID, version: 0xae });
    const again = await openLastSeen(path, { id: ID, version: 1 });
    await again.close();
    assertEquals(await Deno.readTextFile(`${path}.id`), textOf("0000000000000001"));
  });
});

Deno.test("an .id file that is damaged, cannot be read or cannot be made is named in one sentence", async () => {
  await inFolder(async (path, folder) => {
    const good = textOf("00000000000000ab");
    const damaged = [
      "",
      good.trimEnd(),
      `${good}x`,
      ` ${good}`,
      good.replace("ab", "a"),
      good.replace("ab", "AB"),
    ];
    for (const text of [...damaged, good.replace(ID, ID.slice(1)), good.replace("id", "ID")]) {
      await Deno.writeTextFile(`${path}.id`, text);
      const words = `The file ${path}.id is damaged. Make sure that ${path} is the right database, ` +
        `then delete ${path}.id.`;
      const { message } = await assertRejects(() => readLastSeen(path), Error);
      assertEquals(message, words);
    }
    await Deno.remove(`${path}.id`);
    await Deno.mkdir(`${path}.id`);
    await assertRejects(() => readLastSeen(path), Error, `The file ${path}.id cannot be read: `);
    const first = { id: ID, version: 1 };
    await assertRejects(() => openLastSeen(path, first), Error, `The file ${path}.id cannot be written: `);
    const nowhere = `${folder}/none/platform.kv`;
    await assertRejects(
      () => openLastSeen(nowhere, first),
      Error,
      `The file ${nowhere}.id cannot be written: `,
    );
  });
});
