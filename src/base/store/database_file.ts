/**
 * Opens the database file of a program. Rejects a file that is damaged, emptied, replaced or of another program.
 *
 * An empty file alone does not show whether the installation is new or has lost its data. Therefore the database has
 * an identity (`store_identity.ts`), and the file `<path>.id` beside it contains the identity and the newest commit
 * that this computer has seen. If that file exists, an empty database is a loss. If it names a newer commit, the
 * database has gone back in time: an older copy has replaced it, or its write-ahead log was lost.
 */
import { stat } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { DENO_KV_FILES } from "./deno_kv.ts";
import type { FileEngine, OpeningHooks } from "./file_engine.ts";
import { identify } from "./identify.ts";
import { openLastSeen, readLastSeen } from "./last_seen.ts";
import { isMissing, makeOwnFile } from "./own_file.ts";
import { SQLITE_FILES } from "./sqlite_store.ts";
import { type Store, StoreFailure } from "./store.ts";
import { isSqlitePath } from "./store_url.ts";
import type { LastSeen, Owner } from "./store_identity.ts";

/** A larger file is not checked at each start. 1 GiB takes about 1 s from memory, and 10 s from a slow disk. */
const MAX_CHECKED_BYTES = 2 ** 30;

/**
 * Opens the database at `path` for its owner. A new file is readable by the user of the process alone.
 *
 * @param path a file path, or `:memory:`
 * @param keeps which entries may be kept in memory
 * @throws {Error} in one sentence that names the fault and the next step
 */
export async function openDatabase(
  path: string,
  owner: Owner,
  keeps: OpeningHooks["keeps"] = () => false,
): Promise<Store> {
  const engine = engineOf(path);
  if (path === ":memory:") return await engine.open(path, { keeps });
  let lastSeen: LastSeen | undefined;
  let version = 0;
  let note = (_: number): void => {};
  const store = await engine.open(path, {
    async beforeOpening(): Promise<void> {
      lastSeen = await readLastSeen(path);
      version = await inspect(engine, path, lastSeen);
    },
    onCommitted: (committed) => note(committed),
    keeps,
  });
  try {
    const id = await identify(store, { path, owner, version, lastSeen });
    const seen = await openLastSeen(path, { id, version });
    note = seen.note;
    return {
      ...store,
      async close(): Promise<void> {
        await store.close();
        await seen.close();
      },
    };
  } catch (error) {
    await store.close();
    if (error instanceof StoreFailure) {
      throw new Error(`The database ${path} cannot be used: ${error.message}.`);
    }
    throw error;
  }
}

/**
 * Which engine keeps a file: `node:sqlite` if its name says so, else Deno KV. The name decides and not the runtime, so
 * that a deployment that moves to another runtime never takes one file for the other.
 */
function engineOf(path: string): FileEngine {
  if (isSqlitePath(path)) return SQLITE_FILES;
  if ("Deno" in globalThis && typeof Deno.openKv === "function") return DENO_KV_FILES;
  if (path === ":memory:") return SQLITE_FILES;
  throw new Error(
    `The database ${path} cannot be opened: only Deno opens Deno KV files. Name a path that ends with .sqlite.`,
  );
}

/**
 * Returns the newest commit of the file, or 0 for a new one, which it makes. It changes no other file.
 *
 * @throws {Error} in one sentence if the file is damaged, lost or of another program
 */
export async function inspect(
  engine: FileEngine,
  path: string,
  lastSeen: LastSeen | undefined,
): Promise<number> {
  const [size, log] = [await sizeOf(path), await sizeOf(`${path}-wal`)];
  if (size !== undefined && size > 0) return await inspectDatabase(engine, path, size, lastSeen);
  const state = size === undefined ? "is missing" : "is empty";
  if (log !== undefined && log > 0) { // SQLite would delete it
    throw new Error(`The database ${path} ${state}, but ${path}-wal holds commits of it. ${restoreOr(path)}`);
  }
  if (lastSeen !== undefined) throw new Error(lost(path, state));
  await makeOwnFile(path, path); // SQLite makes its further files with the same permissions
  await setPageSize(path);
  return 0;
}

/** Not at the start: edge runtimes have none, and open no file. */
function openSqlite(): Promise<typeof import("node:sqlite")> {
  return import("node:sqlite");
}

/** Of a new file. Most values are small, and a commit writes whole pages. */
const PAGE_BYTES = 1024;

async function setPageSize(path: string): Promise<void> {
  const sqlite = await openSqlite();
  const database = new sqlite.DatabaseSync(path);
  // Without a journal in a file, this is one write of one page: a crash leaves an empty file or a whole one.
  database.exec(`pragma journal_mode = memory; pragma page_size = ${PAGE_BYTES}; pragma user_version = 0`);
  database.close();
}

async function inspectDatabase(
  { schema, commits }: FileEngine,
  path: string,
  size: number,
  lastSeen: LastSeen | undefined,
): Promise<number> {
  const sqlite = await openSqlite();
  let database: DatabaseSync | undefined;
  try {
    database = new sqlite.DatabaseSync(path, { readOnly: true });
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all()
      .map(({ name }) => name);
    if (tables.length === 0 && lastSeen !== undefined) throw new Error(lost(path, "is empty"));
    if (tables.length === 0) return 0; // its creation was interrupted
    if (!tables.includes(schema.table)) {
      throw new Error(`The database ${path} was made by another program. Name another database.`);
    }
    if (numberIn(database, schema.query) > schema.newest) {
      throw new Error(
        `The database ${path} was written by a newer version of ${schema.writer}. Run that version.`,
      );
    }
    if (size <= MAX_CHECKED_BYTES) rejectDamage(database, path);
    return tables.includes(commits.table) ? numberIn(database, commits.query) : 0;
  } catch (error) {
    throw asSentence(path, error);
  } finally {
    database?.close();
  }
}

function rejectDamage(database: DatabaseSync, path: string): void {
  const [row] = database.prepare("pragma quick_check(1)").all();
  const found = String(row?.["quick_check"]);
  if (found !== "ok") throw new Error(damagedText(path, found.replaceAll(/\s*\n\s*/g, " ")));
}

function numberIn(database: DatabaseSync, query: string): number {
  return Number(database.prepare(query).get()?.["n"] ?? 0);
}

/** Converts an error of SQLite into a sentence for the operator. */
function asSentence(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  if (error.message === "file is not a database") {
    return new Error(`The file ${path} is not a database. Name another database, or restore a backup.`);
  }
  if (error.message === "database disk image is malformed") {
    return new Error(damagedText(path, error.message));
  }
  return new Error(`The database ${path} cannot be opened: ${error.message}`);
}

function damagedText(path: string, why: string): string {
  return `The database ${path} is damaged (${why}). Restore a backup.`;
}

function lost(path: string, state: string): string {
  return `The database ${path} ${state}, although it was in use here (${path}.id names it). ${
    restoreOr(path)
  }`;
}

function restoreOr(path: string): string {
  return `Restore a backup. To begin with an empty database, delete ${path}.id and ${path}-wal.`;
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new Error(
      `The database ${path} cannot be opened: ${error instanceof Error ? error.message : error}`,
    );
  }
}
