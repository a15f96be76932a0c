/** The table of a `node:sqlite` store and its statements, which are prepared once. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** The write-ahead log goes into the table after so many pages, 8 MB: a page that many commits change is written once. */
const LOG_PAGES = 8000;

/** Bounds the write-ahead log after a long read, such as a backup, has kept it from being emptied. */
const MAX_LOG_BYTES = 67_108_864;

/**
 * A version is the number of the commit that wrote the entry. `expires` is in milliseconds. In a table without rowid,
 * a row of more than a quarter of a page would take a page of its own.
 */
const SCHEMA = `
  begin immediate;
  create table if not exists hub_entry (
    key blob not null primary key, value text not null, version integer not null, expires integer
  ) strict;
  create index if not exists hub_entry_expiry on hub_entry (expires) where expires is not null;
  create table if not exists hub_commit (number integer not null) strict;
  insert into hub_commit select 0 where not exists (select * from hub_commit);
  pragma user_version = 1;
  commit`;

export interface Row {
  /** JSON. */
  readonly value: string;
  readonly version: number;
}

export interface KeyedRow extends Row {
  readonly key: Uint8Array;
}

export interface Statements {
  begin(kind: "read" | "write"): void;
  commit(): void;
  rollback(): void;
  get(key: Uint8Array): Row | undefined;
  /** Gives what is between two keys, without them. */
  list(after: Uint8Array, before: Uint8Array, limit: number): KeyedRow[];
  /** Counts a commit and returns its number, from 1. */
  nextNumber(): number;
  set(key: Uint8Array, json: string, version: number, expires: number | null): void;
  remove(key: Uint8Array): void;
  /** Deletes at most `limit` entries that expired before `now`. Returns how many. */
  expire(now: number, limit: number): number;
  close(): void;
}

/** Makes the table if the database is new. */
export function openStatements(database: DatabaseSync): Statements {
  database.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma temp_store = memory;
    pragma trusted_schema = off; pragma journal_size_limit = ${MAX_LOG_BYTES};
    pragma wal_autocheckpoint = ${LOG_PAGES}`);
  // A file that has its tables is not written to before its owner is known.
  if (database.prepare("pragma user_version").get()?.["user_version"] === 0) database.exec(SCHEMA);
  const own = <T>(sql: string): (...values: SQLInputValue[]) => T[] => {
    const statement = database.prepare(sql);
    return (...values) => statement.all(...values) as T[];
  };
  const begin = { read: own("begin"), write: own("begin immediate") };
  const get = own<Row>("select value, version from hub_entry where key = ?");
  const next = own<{ number: number }>("update hub_commit set number = number + 1 returning number");
  const expire = database.prepare(
    "delete from hub_entry where rowid in (select rowid from hub_entry where expires < ? order by expires limit ?)",
  );
  const [commit, rollback] = [own("commit"), own("rollback")];
  return {
    begin: (kind) => void begin[kind](),
    commit: () => void commit(),
    rollback: () => void rollback(),
    get: (key) => get(key)[0],
    list: own<KeyedRow>(
      "select key, value, version from hub_entry where key > ? and key < ? order by key limit ?",
    ),
    nextNumber: () => next()[0]?.number ?? 0,
    set: own(
      `insert into hub_entry (key, value, version, expires) values (?, ?, ?, ?) on conflict (key)
        do update set value = excluded.value, version = excluded.version, expires = excluded.expires`,
    ),
    remove: own("delete from hub_entry where key = ?"),
    expire: (now, limit) => Number(expire.run(now, limit).changes),
    close: () => database.close(),
  };
}

/** Runs statements in a transaction, which is undone if one fails. */
export function inTransaction<T>(statements: Statements, kind: "read" | "write", work: () => T): T {
  statements.begin(kind);
  try {
    const result = work();
    statements.commit();
    return result;
  } catch (error) {
    try {
      statements.rollback();
    } catch {
      // SQLite has undone it already: it does after some failures.
    }
    throw error;
  }
}
