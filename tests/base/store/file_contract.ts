/** The part of the storage contract that only a file can show: what outlives a process, and whose the file is. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Store } from "../../../src/base/store/store.ts";
import { testStore } from "./store_contract.ts";

const folder = await Deno.makeTempDir({ prefix: "store-test-" });
let files = 0;

function freshFile(): string {
  return `${folder}/${files++}.database`;
}

/** An engine that keeps files. */
export interface FileStoreUnderTest {
  readonly name: string;
  /** Its name to `hold_open.ts`. */
  readonly engine: "deno_kv" | "sqlite";
  open(path: string): Promise<Store>;
}

/** Registers it, and the whole contract in a file. */
export function testFiles(subject: FileStoreUnderTest): void {
  testStore({ name: `${subject.name} in a file:`, open: () => subject.open(freshFile()) });
  testKeeping(subject);
  testOwner(subject);
  testRejections(subject);
}

function testKeeping(subject: FileStoreUnderTest): void {
  const { name, open } = subject;
  Deno.test(`${name} loses nothing when it is closed and opened again, versions included`, async () => {
    const file = freshFile();
    const first = await open(file);
    await first.commit({ checks: [], writes: [{ kind: "set", key: ["a"], value: { n: 1 } }] });
    const before = await first.get(["a"]);
    await first.close();
    const second = await open(file);
    try {
      assertEquals(await second.get(["a"]), before);
      const checks = [{ key: ["a"], version: before?.version ?? null }];
      assert(await second.commit({ checks, writes: [{ kind: "delete", key: ["a"] }] }));
    } finally {
      await second.close();
    }
  });

  Deno.test(`${name} loses nothing that was committed when its process is killed [C7]`, async () => {
    const file = freshFile();
    const child = holdOpen(subject, file);
    await child.ready;
    await child.kill();
    const store = await open(file);
    try {
      const kept = await store.list({ prefix: ["kept"], limit: 100 });
      assertEquals(kept.length, 20);
    } finally {
      await store.close();
    }
  });
}

function testOwner(subject: FileStoreUnderTest): void {
  const { name, open } = subject;
  Deno.test(`${name} says in one sentence that another process holds the file [layout 6.3]`, async () => {
    const file = freshFile();
    const child = holdOpen(subject, file);
    await child.ready;
    try {
      const error = await assertRejects(() => open(file), Error);
      assertEquals(error.message, `The database ${file} is in use by another process; stop that one first.`);
    } finally {
      await child.kill();
    }
    await (await open(file)).close();
  });

  Deno.test(`${name} opens a file again while its process starts other programs`, async () => {
    const starting = 'for (;;) await Promise.all([1, 2, 3, 4].map(() => new Deno.Command("true").output()));';
    const module = `data:application/javascript,postMessage(0); ${encodeURIComponent(starting)}`;
    const worker = new Worker(module, { type: "module" });
    await new Promise((resolve) => worker.onmessage = resolve);
    const file = freshFile();
    try {
      for (let round = 0; round < 20; round++) await (await open(file)).close();
    } finally {
      worker.terminate();
    }
  });
}

function testRejections({ name, open }: FileStoreUnderTest): void {
  Deno.test(`${name} says in one sentence that a file cannot be opened`, async () => {
    const missing = `${folder}/nowhere/x.sqlite3`;
    const error = await assertRejects(() => open(missing), Error);
    assert(error.message.startsWith(`The database ${missing} cannot be opened: `), error.message);
    const noDatabase = freshFile();
    await Deno.writeTextFile(noDatabase, "this is not a database, whatever its name says ".repeat(100));
    const other = await assertRejects(() => open(noDatabase), Error);
    assert(other.message.startsWith(`The database ${noDatabase} cannot be opened: `), other.message);
  });

  Deno.test(`${name} rejects a value above its limit instead of cutting it`, async () => {
    const store = await open(":memory:");
    try {
      const writes = [{ kind: "set", key: ["a"], value: "x".repeat(70_000) } as const];
      await assertRejects(() => store.commit({ checks: [], writes }));
      assertEquals(await store.get(["a"]), null);
    } finally {
      await store.close();
    }
  });
}

globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));

interface Holder {
  /** Fulfilled when the child has the file open and has written to it. */
  readonly ready: Promise<void>;
  /** Ends the child at once, as a crash would. */
  kill(): Promise<void>;
}

/** Another process that opens the file, commits 20 entries and keeps the file open. */
function holdOpen({ engine }: FileStoreUnderTest, file: string): Holder {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      `--allow-read=${folder}`,
      `--allow-write=${folder}`,
      new URL("./hold_open.ts", import.meta.url).pathname,
      engine,
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
