/** Opens a database by its URL: a Deno KV or SQLite file, or PostgreSQL. */
import { isPostgresUrl } from "../../../src/base/store/postgres/settings.ts";
import { isSqlitePath } from "../../../src/base/store/store_url.ts";
import type { Database } from "./database.ts";
import { openKvFile } from "./kv_file.ts";
import { openPostgresDatabase } from "./postgres_database.ts";
import { openSqliteFile } from "./sqlite_file.ts";

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
