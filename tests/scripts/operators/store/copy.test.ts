/** `deno task store copy`: every entry arrives, an interruption is continued, and no two databases are in use. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { openAt } from "../../../../scripts/operators/store/open_database.ts";
import { storeCommand } from "../../../../scripts/operators/store/main.ts";
import { taskCommand } from "testing/served_platform.ts";
import { openDatabase } from "../../../../src/base/store/database_file.ts";
import { openConnections, UNHURRIED } from "../../../../src/base/store/postgres/connections.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { openStore } from "../../../../src/base/store/open_store.ts";
import type { Owner } from "../../../../src/base/store/store_identity.ts";
import type { Commit, Entry, Key, Store, Write } from "../../../../src/base/store/store.ts";
import { isPostgresMissing, newPostgresDatabase } from "support/postgres.ts";

const OWNER: Owner = { program: "platform", issuer: "https://auth.example" };
const HOUR = 3_600_000;

const command = (...args: string[]): Promise<string> =>
  storeCommand(args, { storeUrl: undefined, now: Date.now() });

interface Folder extends AsyncDisposable {
  readonly path: string;
}

async function openFolder(): Promise<Folder> {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function using<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, OWNER);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Fills a database with entries whose keys and values are hard to convert. */
async function fill(url: string, more = 0): Promise<void> {
  const writes: Write[] = [
    {
      kind: "set",
      key: ["consent", "é\0ÿ", "", "\u{1F600}"],
      value: { a: [1.5, null, "\u{1F600}"], b: { c: true } },
    },
    { kind: "set", key: ["consent", "é"], value: "text" },
    { kind: "set", key: ["evidence", "x", "0"], value: "\u20ac".repeat(30_000) },
    { kind: "set", key: ["rate_bucket", "x"], value: { expiresAt: 1 }, expiresAt: Date.now() + HOUR },
    { kind: "set", key: ["zero"], value: 0 },
  ];
  for (let number = 0; number < more; number++) {
    const expiry = number % 3 === 0 ? { expiresAt: Date.now() + HOUR + number } : {};
    writes.push({
      kind: "set",
      key: ["fill", String(number).padStart(6, "0")],
      value: { number },
      ...expiry,
    });
  }
  await using(url, async (store) => {
    for (let at = 0; at < writes.length; at += 500) {
      await store.commit({ checks: [], writes: writes.slice(at, at + 500) });
    }
  });
}

const PREFIXES: readonly Key[] = [["consent"], ["evidence"], ["rate_bucket"], ["zero"], ["fill"]];

async function readEntries(url: string): Promise<unknown[]> {
  return await using(url, async (store) => {
    const found: Entry<unknown>[] = [];
    for (const prefix of PREFIXES) found.push(...await store.list({ prefix, limit: 10_000 }));
    return found.map(({ key, value }) => [key, value]);
  });
}

async function rejected(args: readonly string[], words: string): Promise<void> {
  const { message } = await assertRejects(() => command(...args), Error);
  assertStringIncludes(message, words);
}

function postgresTest(name: string, fn: (folder: string) => Promise<void>): void {
  Deno.test({
    name,
    ignore: isPostgresMissing,
    async fn() {
      await using folder = await openFolder();
      await fn(folder.path);
    },
  });
}

/** Each engine of files, and the other one. */
for (const [ending, other] of [["kv", "sqlite"], ["sqlite", "kv"]]) {
  postgresTest(
    `.${ending}: a copy from file to PostgreSQL and back holds every key, value and expiry`,
    async (folder) => {
      const [first, last, database] = [
        `${folder}/first.${ending}`,
        `${folder}/last.${ending}`,
        await newPostgresDatabase(),
      ];
      await fill(first, 2500);
      const before = await readEntries(first);
      const there = await command("copy", "--from", first, "--to", database);
      assertEquals(await readEntries(database), before);
      const back = await command("copy", "--from", database, "--to", last);
      assertEquals(await readEntries(last), before);
      assertEquals(before.length, 2504);
      const [, digest] = /SHA-256 ([0-9a-f]{64})/.exec(there) ?? [];
      assertStringIncludes(back, `2505 entries of postgres://postgres@127.0.0.1`);
      assertStringIncludes(back, `SHA-256 ${digest}.`);
      assertEquals((await Deno.stat(last)).mode ?? 0, 0o100600);
    },
  );

  postgresTest(`.${ending}: what was used once stays used in every copy`, async (folder) => {
    const urls = [`${folder}/first.${ending}`, await newPostgresDatabase(), `${folder}/last.${other}`];
    const ids = ["assertion", "proof"];
    const expiresAt = Date.now() + HOUR;
    const spending = (id: string): Commit => ({
      checks: [{ key: ["spent_jwt", id], version: null }],
      writes: [{ kind: "set", key: ["spent_jwt", id], value: { expiresAt }, expiresAt }],
    });
    const spend = (url: string, id: string): Promise<boolean> =>
      using(url, (store) => store.commit(spending(id)));
    const [first = "", ...copies] = urls;
    const [one, more] = ids.map(spending);
    await using(
      first,
      (store) => store.commit({ checks: [], writes: [one, more].flatMap((commit) => commit?.writes ?? []) }),
    );
    for (const [index, copy] of copies.entries()) {
      await command("copy", "--from", urls[index] ?? "", "--to", copy);
      for (const id of ids) assertEquals([copy, await spend(copy, id)], [copy, false]);
      assertEquals(await spend(copy, `new ${index}`), true);
    }
  });

  postgresTest(
    `.${ending}: an expiry is copied to both engines, and what has expired is not`,
    async (folder) => {
      const [first, last, database] = [
        `${folder}/first.${ending}`,
        `${folder}/last.${ending}`,
        await newPostgresDatabase(),
      ];
      const expiresAt = Date.now() + 6000;
      await using(first, (store) =>
        store.commit({
          checks: [],
          writes: [{ kind: "set", key: ["soon"], value: 1, expiresAt }, {
            kind: "set",
            key: ["kept"],
            value: 1,
          }],
        }));
      await command("copy", "--from", first, "--to", database);
      const found = await using(database, (store) => store.getMany([["soon"], ["kept"]]));
      assertEquals(found.map((entry) => entry?.value), [1, 1]);
      await new Promise((resolve) => setTimeout(resolve, expiresAt + 50 - Date.now()));
      const said = await command("copy", "--from", database, "--to", last);
      assertStringIncludes(said, "holds the 1 entries");
      assertEquals(await using(last, (store) => store.get(["soon"])), null);
    },
  );

  postgresTest(
    `.${ending}: a copy that was killed is continued, and neither database can be used before`,
    async (folder) => {
      const [file, database] = [`${folder}/first.${ending}`, await newPostgresDatabase()];
      await fill(file, 12_000);
      await killedCopy(file, database);
      const opening = (url: string): Promise<Error> => assertRejects(() => openStore(url, OWNER), Error);
      assertStringIncludes((await opening(database)).message, "is an unfinished copy of");
      assertStringIncludes((await opening(file)).message, "were moved to");
      await rejected(["assign", "--at", database, "--issuer", OWNER.issuer], "is an unfinished copy of");
      await rejected(
        ["copy", "--from", database, "--to", `${folder}/other.${ending}`],
        "is an unfinished copy of",
      );
      await command("copy", "--from", file, "--to", database);
      await using(database, (store) => store.get(["zero"]));
      assertStringIncludes((await opening(file)).message, "were moved to");
    },
  );

  postgresTest(
    `.${ending}: a copy is compared with its source: values, and entries that only one side has`,
    async (folder) => {
      const [file, database] = [`${folder}/first.${ending}`, await newPostgresDatabase()];
      await fill(file, 12_000);
      await killedCopy(file, database);
      const plant = async (write: Write): Promise<void> => {
        await using target = await openAt(database, "existing");
        await target.store.commit({ checks: [], writes: [write] });
      };
      await plant({ kind: "set", key: ["zzz"], value: 1 });
      await rejected(["copy", "--from", file, "--to", database], "At an entry of zzz: source lacks it");
      await plant({ kind: "set", key: ["consent", "more"], value: 1 });
      await rejected(["copy", "--from", file, "--to", database], "At an entry of consent: source lacks it");
      await assertRejects(() => openStore(database, OWNER), Error, "unfinished copy");
      await plant({ kind: "delete", key: ["zzz"] });
      await plant({ kind: "delete", key: ["consent", "more"] });
      await plant({ kind: "delete", key: ["zero"] });
      await plant({ kind: "set", key: ["consent", "é"], value: "other" });
      await command("copy", "--from", file, "--to", database);
      assertEquals(await using(database, (store) => store.get(["zero"])).then((entry) => entry?.value), 0);
      assertEquals(
        await using(database, (store) => store.get(["consent", "é"])).then((entry) => entry?.value),
        "text",
      );
    },
  );

  postgresTest(
    `.${ending}: a database in use, or with other content, is neither source nor target`,
    async (folder) => {
      const [file, database, other] = [
        `${folder}/a.${ending}`,
        await newPostgresDatabase(),
        await newPostgresDatabase(),
      ];
      await fill(file);
      await using(file, async () => {
        await rejected(["copy", "--from", file, "--to", database], "in use by another process");
      });
      await fill(database);
      await rejected(["copy", "--from", file, "--to", database], "has other content");
      await rejected(["copy", "--from", database, "--to", file], `${file}.id names it`);
      await using(database, async (store) => {
        await store.get(["zero"]);
        await rejected(["copy", "--from", database, "--to", other], "is in use by");
        await rejected(["restored", "--at", database, "--taken-at", "2026-01-31T12:00:00Z"], "is in use by");
      });
      await using(other, async (store) => {
        await store.get(["zero"]);
        await rejected(["copy", "--from", file, "--to", other], "is in use by");
      });
      await readEntries(file); // the attempts have not closed it
    },
  );

  Deno.test(`.${ending}: entries of a file are moved to another file, and the source can be taken into use again`, async () => {
    await using folder = await openFolder();
    const [file, copy] = [`${folder.path}/a.${ending}`, `${folder.path}/b.${other}`];
    await fill(file, 600);
    const before = await readEntries(file);
    await command("copy", "--from", file, "--to", copy);
    assertEquals(await readEntries(copy), before);
    await assertRejects(() => openDatabase(file, OWNER), Error, `were moved to ${copy}`);
    await command("assign", "--at", file, "--issuer", OWNER.issuer);
    assertEquals(await readEntries(file), before);
  });

  Deno.test(`.${ending}: a backup that is copied stays as it is, and its copy is a restored copy too`, async () => {
    await using folder = await openFolder();
    const [file, backup, copy] = [
      `${folder.path}/a.${ending}`,
      `${folder.path}/backup.${ending}`,
      `${folder.path}/b.${ending}`,
    ];
    await fill(file);
    await storeCommand(["backup", "--to", backup], { storeUrl: file, now: 1_700_000_000_000 });
    const markOf = (url: string): Promise<unknown> =>
      using(url, async (store) => (await store.get<{ takenAt: number }>(["store_copy"]))?.value.takenAt);
    await command("copy", "--from", backup, "--to", copy);
    assertEquals(await markOf(copy), 1_700_000_000_000);
    assertEquals(await markOf(backup), 1_700_000_000_000);
    assertEquals(await markOf(file), undefined);
  });
}

/** Runs the task as a process and kills it when a part of the entries has arrived. */
async function killedCopy(file: string, database: string): Promise<void> {
  const [program = "", ...words] = await taskCommand("store");
  const args = [...words, "copy", "--from", file, "--to", database];
  const child = new Deno.Command(program, {
    args,
    cwd: file.replace(/[^/]+$/, ""),
    stdout: "null",
    stderr: "null",
  })
    .spawn();
  const connections = await openConnections(readPostgresUrl(database), UNHURRIED);
  const count = async (): Promise<number> => {
    const [row] = await connections.run((sql) =>
      sql<{ n: number }[]>`select count(*)::int as n from hub.entry`
    );
    return row?.n ?? 0;
  };
  while (await count() < 1000) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill("SIGKILL");
  await child.status;
  const arrived = await count();
  await connections.close();
  assert(arrived < 12_000, `killed after ${arrived} entries`);
}
