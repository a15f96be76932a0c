/** The file beside a database that names its newest commit. */
import { assertEquals } from "@std/assert";
import { openLastSeen, readLastSeen } from "../../../src/base/store/last_seen.ts";
import { prototypeOfHandles } from "./database_folder.ts";

Deno.test("a slow disk does not make two writes of the .id file overlap", async () => {
  const folder = await Deno.makeTempDir({ prefix: "last-seen-" });
  const path = `${folder}/platform.kv`;
  const id = crypto.randomUUID();
  const file = await openLastSeen(path, { id, version: 1 });
  const alive = setInterval(() => {}, 1000); // the file's own timer does not keep the process
  const handles = await prototypeOfHandles(`${path}.id`);
  const { write } = handles;
  const began = Promise.withResolvers<void>();
  const disk = Promise.withResolvers<void>();
  handles.write = async function (...what: unknown[]): Promise<unknown> {
    began.resolve();
    await disk.promise;
    return await write.apply(this, what);
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
  } finally {
    handles.write = write;
    clearInterval(alive);
    await file.close();
    await Deno.remove(folder, { recursive: true });
  }
});
