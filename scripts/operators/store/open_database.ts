/** Opens a database by its URL: a Deno KV or SQLite file, or PostgreSQL. */
import { isPostgresUrl } from "../../../src/base/store/postgres/settings.ts";
import { isSqlitePath } from "../../../src/base/store/store_url.ts";
import type { Database, StoredEntry } from "./database.ts";
import { type FileForm, openFile, openKvFile } from "./kv_file.ts";
import { openPostgresDatabase } from "./postgres_database.ts";
import { SQLITE_FILES } from "../../../src/base/store/sqlite_store.ts";

const SQLITE: FileForm = {
  engine: SQLITE_FILES,
  page: "select key, value, expires from hub_entry where key > ? and key <= ? order by key limit ?",
  counting: "select count(*) as count from hub_entry",
  keyOf: (key) => Uint8Array.fromHex(key.slice(2)),
  entryOf: asEntry,
};

/** @throws {Error} in one sentence if it is damaged, of another program, missing, or in use */
const openSqliteFile = (path: string, mayBeNew: "new" | "existing"): Promise<Database> =>
  openFile(path, mayBeNew, SQLITE);

function asEntry({ key, value, expires }: Record<string, unknown>): StoredEntry {
  if (!(key instanceof Uint8Array)) throw new Error("The file contains a key that is not bytes.");
  return {
    key: `\\x${key.toHex()}`,
    json: String(value),
    expiresAt: expires === null ? undefined : Number(expires),
  };
}

/**
 * Opens a database that exists, or makes a new file.
 *
 * @param url the path of a Deno KV or SQLite file, or `postgres://…`
 * @throws {Error} in one sentence if it cannot be used, or a program has it open
 */
export async function openAt(url: string, mayBeNew: "new" | "existing"): Promise<Database> {
  if (isPostgresUrl(url)) return await openPostgresDatabase(url);
  return await (isSqlitePath(url) ? openSqliteFile : openKvFile)(url, mayBeNew);
}

/** Runs some work on a database that exists. */
export async function change<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  await using database = await openAt(url, "existing");
  return await work(database);
}
