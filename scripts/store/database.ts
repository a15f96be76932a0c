/** A database as `deno task store` works on it: no program has it open, and its entries are read with their expiry. */
import { isPostgresUrl } from "../../src/base/store/postgres/settings.ts";
import { isSqlitePath } from "../../src/base/store/store_url.ts";
import type { Store } from "../../src/base/store/store.ts";
import { openKvFile } from "./kv_file.ts";
import { openPostgresDatabase } from "./postgres_database.ts";
import { openSqliteFile } from "./sqlite_file.ts";

export interface StoredEntry {
  /** As `postgres/key_codec.ts` encodes it. The order of the texts is the order of the keys. */
  readonly key: string;
  /** `JSON.stringify` of the value. */
  readonly json: string;
  /** Milliseconds. */
  readonly expiresAt: number | undefined;
}

/** By default from the first key, and to the last. */
export interface Range {
  readonly after?: string | undefined;
  readonly until?: string | undefined;
}

export interface Database extends AsyncDisposable {
  /** For messages: the path, or the URL without its password. */
  readonly name: string;
  readonly store: Store;
  /** Returns at most `limit` entries in key order, after the key `after` and up to `until`. */
  read(range: Range, limit: number): Promise<readonly StoredEntry[]>;
  /** Writes entries, in place of those with their keys. */
  write(entries: readonly StoredEntry[]): Promise<void>;
  /** @throws {Error} in one sentence if a program has it open */
  rejectInUse(): Promise<void>;
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
