/** A folder with a database in it. */
import { assertEquals } from "@std/assert";
import { open } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { openDatabase } from "../../../src/base/store/database_file.ts";
import type { Owner } from "../../../src/base/store/store_identity.ts";
import { isSqlitePath } from "../../../src/base/store/store_url.ts";

export const PLATFORM: Owner = { program: "platform", issuer: "https://auth.example" };

/** Opens the database as the platform does, adds an entry, and returns how many there were. */
export async function use(file: string): Promise<number> {
  const store = await openDatabase(file, PLATFORM);
  try {
    const before = (await store.list({ prefix: ["kept"], limit: 100 })).length;
    const write = { kind: "set", key: ["kept", crypto.randomUUID()], value: "x".repeat(500) } as const;
    await store.commit({ checks: [], writes: [write] });
    return before;
  } finally {
    await store.close();
  }
}

export function sql(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

/** The names of a file's tables and columns, by its engine. */
const FORMS = {
  kv: {
    entries: "kv",
    key: "k",
    typeOfText: "02",
    firstCommit: "update data_version set version = 1",
    newerSchema: "update migration_state set version = 4",
  },
  sqlite: {
    entries: "hub_entry",
    key: "key",
    typeOfText: "",
    firstCommit: "update hub_commit set number = 1",
    newerSchema: "pragma user_version = 2",
  },
} as const;

const formOf = (file: string): typeof FORMS.kv | typeof FORMS.sqlite =>
  FORMS[isSqlitePath(file) ? "sqlite" : "kv"];

/** Deletes an entry whose key has one part. */
export function forget(file: string, part = "store_identity"): void {
  const { entries, key, typeOfText } = formOf(file);
  sql(
    file,
    `delete from ${entries} where ${key} = x'${typeOfText}${new TextEncoder().encode(part).toHex()}00'`,
  );
}

/** Makes each new entry fail as a full disk does. */
export function fillUp(file: string): void {
  const fail = "select raise(abort, 'database or disk is full')";
  sql(file, `create trigger full before insert on ${formOf(file).entries} begin ${fail}; end`);
}

/** Makes the file look as old as its first commit. */
export function goBack(file: string): void {
  sql(file, formOf(file).firstCommit);
}

/** Makes the file look as if a newer version had written it. */
export function makeNewer(file: string): void {
  sql(file, formOf(file).newerSchema);
}

/** Plants a fault that only reading the page reveals. */
export function overwritePage(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  const { root } = database.prepare("select rootpage as root from sqlite_schema where name = ?")
    .get(formOf(file).entries) ?? {};
  const { page_size: size } = database.prepare("pragma page_size").get() ?? {};
  database.close();
  using open = Deno.openSync(file, { write: true });
  open.seekSync((Number(root) - 1) * Number(size) + 8, Deno.SeekMode.Start);
  open.writeSync(new Uint8Array(16).fill(0xaa));
}

export interface Folder extends AsyncDisposable {
  readonly path: string;
  readonly file: string;
}

/** The ending of a file's name says its engine. */
export const ENDINGS = ["kv", "sqlite"] as const;

/** @param name of the database in it, which says its engine */
export async function openFolder(name = "platform.kv"): Promise<Folder> {
  const path = await Deno.makeTempDir({ prefix: "database-" });
  const dispose = (): Promise<void> => Deno.remove(path, { recursive: true });
  return { path, file: `${path}/${name}`, [Symbol.asyncDispose]: dispose };
}

/** The methods of all open files of `node:fs`. */
export async function prototypeOfHandles(
  path: string,
): Promise<{ write(...what: unknown[]): Promise<unknown>; close(): Promise<void> }> {
  const handle = await open(path, "r");
  await handle.close();
  return Object.getPrototypeOf(handle);
}

/** Another process opens the database, makes 30 commits and is killed. */
export async function crash(file: string): Promise<void> {
  const program = new URL("./crash.ts", import.meta.url).pathname;
  const args = ["run", "--no-prompt", "--allow-read", "--allow-write", "--allow-run", program, file];
  const { signal, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  assertEquals(signal, "SIGKILL", new TextDecoder().decode(stderr));
}
