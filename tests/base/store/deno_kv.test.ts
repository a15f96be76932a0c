/** The storage contract on Deno KV, in memory and in a file, and what only a file can show. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { testStore } from "./store_contract.ts";

const folder = await Deno.makeTempDir({ prefix: "store-test-" });
let files = 0;

function freshFile(): string {
  return `${folder}/${files++}.sqlite3`;
}

testStore({ name: "deno_kv in memory:", open: () => openDenoKv(":memory:") });
testStore({ name: "deno_kv in a file:", open: () => openDenoKv(freshFile()) });

Deno.test("deno_kv loses nothing when it is closed and opened again, versions included", async () => {
  const file = freshFile();
  const first = await openDenoKv(file);
  await first.commit({ checks: [], writes: [{ kind: "set", key: ["a"], value: { n: 1 } }] });
  const before = await first.get(["a"]);
  first.close();
  const second = await openDenoKv(file);
  try {
    assertEquals(await second.get(["a"]), before);
    const checks = [{ key: ["a"], version: before?.version ?? null }];
    assert(await second.commit({ checks, writes: [{ kind: "delete", key: ["a"] }] }));
  } finally {
    second.close();
  }
});

Deno.test("deno_kv loses nothing that was committed when its process is killed [C7]", async () => {
  const file = freshFile();
  const child = holdOpen(file);
  await child.ready;
  await child.kill();
  const store = await openDenoKv(file);
  try {
    const kept = await store.list({ prefix: ["kept"], limit: 100 });
    assertEquals(kept.length, 20);
  } finally {
    store.close();
  }
});

Deno.test("deno_kv says in one sentence that another process holds the file [layout 6.3]", async () => {
  const file = freshFile();
  const child = holdOpen(file);
  await child.ready;
  try {
    const error = await assertRejects(() => openDenoKv(file), Error);
    assertEquals(error.message, `The database ${file} is in use by another process; stop that one first.`);
  } finally {
    await child.kill();
  }
  (await openDenoKv(file)).close();
});

Deno.test("deno_kv opens a file again while its process starts other programs", async () => {
  const starting = 'for (;;) await Promise.all([1, 2, 3, 4].map(() => new Deno.Command("true").output()));';
  const module = `data:application/javascript,postMessage(0); ${encodeURIComponent(starting)}`;
  const worker = new Worker(module, { type: "module" });
  await new Promise((resolve) => worker.onmessage = resolve);
  const file = freshFile();
  try {
    for (let round = 0; round < 20; round++) await (await openDenoKv(file)).close();
  } finally {
    worker.terminate();
  }
});

Deno.test("deno_kv says in one sentence that a file cannot be opened", async () => {
  const missing = `${folder}/nowhere/x.sqlite3`;
  const error = await assertRejects(() => openDenoKv(missing), Error);
  assert(error.message.startsWith(`The database ${missing} cannot be opened: `), error.message);
  const noDatabase = freshFile();
  await Deno.writeTextFile(noDatabase, "this is not a database, whatever its name says ".repeat(100));
  const other = await assertRejects(() => openDenoKv(noDatabase), Error);
  assert(other.message.startsWith(`The database ${noDatabase} cannot be opened: `), other.message);
});

Deno.test("deno_kv rejects a value above Deno KV's limit instead of cutting it", async () => {
  const store = await openDenoKv(":memory:");
  try {
    const writes = [{ kind: "set", key: ["a"], value: "x".repeat(70_000) } as const];
    await assertRejects(() => store.commit({ checks: [], writes }));
    assertEquals(await store.get(["a"]), null);
  } finally {
    store.close();
  }
});

globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));

interface Holder {
  /** Fulfilled when the child has the file open and has written to it. */
  readonly ready: Promise<void>;
  /** Ends the child at once, as a crash would. */
  kill(): Promise<void>;
}

/** Another process that opens the file, commits 20 entries and keeps the file open. */
function holdOpen(file: string): Holder {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      `--allow-read=${folder}`,
      `--allow-write=${folder}`,
      new URL("./hold_open.ts", import.meta.url).pathname,
      file,
    ],
    stdout: "piped",
    stdin: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    ready: reader.read().then(({ value }) => assertEquals(value, "ready\n")),
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
    },
  };
}
