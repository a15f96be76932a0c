/**
 * Implements the storage port on `node:sqlite`: a file, or `:memory:`. It needs nothing of Deno, so it also runs under
 * Node and Bun. A statement blocks the process until it is done, and the end of a transaction blocks it until the disk
 * has confirmed it. Commits that arrive meanwhile share the next transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { monotonicClock } from "../kernel/clock.ts";
import type { FileEngine, OpeningHooks } from "./file_engine.ts";
import { type ConcurrencyLimit, openConcurrencyLimit, openGroupCommits } from "./group_commits.ts";
import { decodeKey, encodeKey, endBelow } from "./key_codec.ts";
import { makeOwnFile } from "./own_file.ts";
import { isSqliteFailure, LOCKED, MAX_COMMIT_WAIT_MS, untilUnlocked } from "./sqlite_failure.ts";
import { inTransaction, openStatements, type Row, type Statements } from "./sqlite_statements.ts";
import { type Commit, type Entry, type Key, type Listing, type Store, StoreFailure } from "./store.ts";
import { openSpentJwts } from "./spent_jwts.ts";

/** The bound of records (`record.ts`), and about that of Deno KV. A larger value is a bug of the program. */
const MAX_VALUE_CHARACTERS = 65_536;
const EXPIRY_EVERY_MS = 1000;
/** Bounds what one commit deletes: about 1 ms. */
const EXPIRED_ROWS = 100;

/** How this store keeps a file. */
export const SQLITE_FILES: FileEngine = {
  open: openSqliteStore,
  schema: {
    table: "hub_entry",
    query: "select user_version as n from pragma_user_version",
    newest: 1,
    writer: "the platform",
  },
  commits: { table: "hub_commit", query: "select number as n from hub_commit" },
};

/**
 * Opens the store. Only one process can use a file at a time.
 *
 * @param path a file path, or `:memory:`
 * @throws {Error} in one sentence if the database cannot be opened or another process has locked it
 */
export async function openSqliteStore(path: string, hooks: OpeningHooks = {}): Promise<Store> {
  const open = await opener(path);
  const lock = path === ":memory:" ? undefined : await lockFile(path, open);
  try {
    await hooks.beforeOpening?.();
    const statements = await openOrSayWhy(path, open);
    return await storeOn(statements, hooks, () => {
      statements.close();
      lock?.release();
    });
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function opener(path: string): Promise<(file: string) => DatabaseSync> {
  const sqlite = await import("node:sqlite").catch(() => undefined);
  if (sqlite === undefined) {
    throw new Error(
      `The database ${path} cannot be opened: this runtime has no node:sqlite. Use Deno 2.9, Node 24 or Bun 1.4.`,
    );
  }
  return (file) => new sqlite.DatabaseSync(file, { timeout: 0 }); // SQLite's wait would block the process
}

async function openOrSayWhy(path: string, open: (file: string) => DatabaseSync): Promise<Statements> {
  let database: DatabaseSync | undefined;
  try {
    const opened = database = open(path);
    return await untilUnlocked(() => said(() => openStatements(opened)));
  } catch (error) {
    database?.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The database ${path} cannot be opened: ${why}`);
  }
}

async function storeOn(statements: Statements, hooks: OpeningHooks, close: () => void): Promise<Store> {
  const read = <T>(reading: () => T): Promise<T> => untilUnlocked(() => said(reading));
  const get = <T>(key: Key): Entry<T> | null => {
    const row = statements.get(encodeKey(key));
    return row === undefined ? null : asEntry<T>(key, row);
  };
  const list = <T>({ prefix, after, limit }: Listing): Promise<Entry<T>[]> =>
    read(() =>
      statements.list(encodeKey(after ?? prefix), endBelow(prefix), limit)
        .map((row) => asEntry<T>(decodeKey(row.key), row))
    );
  const transact = transactions(statements, hooks);
  const spent = await openSpentJwts(list, hooks);
  const getMany = async <T>(keys: readonly Key[]): Promise<(Entry<T> | null)[]> =>
    await spent.getMany(
      keys,
      (others) => {
        const all = (): (Entry<unknown> | null)[] => others.map((key) => get(key));
        return read(() => others.length === 1 ? all() : inTransaction(statements, "read", all));
      },
    ) as (Entry<T> | null)[];
  return {
    get: async <T>(key: Key): Promise<Entry<T> | null> => (await getMany<T>([key]))[0] ?? null,
    getMany,
    list,
    commit: openGroupCommits((whole) =>
      spent.commit(whole, async (staged) => {
        const encoded = encode(staged);
        return await untilUnlocked(() => said(() => transact(encoded)));
      }), gatheringLimit()),
    close: () => Promise.resolve(close()),
  };
}

/**
 * A turn begins only after the requests that have arrived were read, because commits of one transaction share the wait
 * for the disk. Without that, each would be alone: the process does nothing else while it commits.
 */
function gatheringLimit(): ConcurrencyLimit {
  const limit = openConcurrencyLimit({ atOnce: 1, maxWaitMs: MAX_COMMIT_WAIT_MS });
  return {
    run: (work) =>
      limit.run(async () => {
        await setImmediate();
        return await work();
      }),
  };
}

interface EncodedCommit {
  readonly checks: readonly { readonly key: Uint8Array; readonly version: string | null }[];
  /** Without a value, the entry is deleted. */
  readonly writes: readonly {
    readonly key: Uint8Array;
    readonly json?: string;
    readonly expires: number | null;
  }[];
}

function encode({ checks, writes }: Commit): EncodedCommit {
  return {
    checks: checks.map(({ key, version }) => ({ key: encodeKey(key), version })),
    writes: writes.map((write) => {
      const key = encodeKey(write.key);
      if (write.kind === "delete") return { key, expires: null };
      return { key, json: encodeValue(write.value), expires: timeOf(write.expiresAt) };
    }),
  };
}

/** SQLite's form of a time: an integer, at most the last one that JavaScript reads exactly. */
function timeOf(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.min(Math.trunc(milliseconds), Number.MAX_SAFE_INTEGER);
}

function encodeValue(value: unknown): string {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) throw new TypeError("a value must have a form in JSON");
  if (json.length <= MAX_VALUE_CHARACTERS) return json;
  throw new TypeError(
    `a value has ${json.length} characters of JSON, at most ${MAX_VALUE_CHARACTERS} are allowed`,
  );
}

/**
 * Returns the function that commits at once. Commits also delete entries that have expired, so that the store needs no
 * timer and no transaction of its own for it.
 */
function transactions(
  statements: Statements,
  { onCommitted }: OpeningHooks,
): (staged: EncodedCommit) => boolean {
  let expiredAt = -Infinity;
  return ({ checks, writes }) => {
    const startedAt = monotonicClock();
    const isExpiryDue = startedAt - expiredAt >= EXPIRY_EVERY_MS;
    let deleted = 0;
    const number = inTransaction(statements, "write", () => {
      const hold = checks.every(({ key, version }) => versionOf(statements.get(key)) === version);
      if (!hold) return undefined;
      if (writes.length === 0) return 0;
      const version = statements.nextNumber();
      for (const { key, json, expires } of writes) {
        if (json === undefined) statements.remove(key);
        else statements.set(key, json, version, expires);
      }
      if (isExpiryDue) deleted = statements.expire(Date.now(), EXPIRED_ROWS);
      return version;
    });
    if (number === undefined || number === 0) return number === 0;
    if (isExpiryDue && deleted < EXPIRED_ROWS) expiredAt = startedAt; // else the next commit goes on
    onCommitted?.(number);
    return true;
  };
}

function versionOf(row: Row | undefined): string | null {
  return row === undefined ? null : versionText(row);
}

function asEntry<T>(key: Key, { value, version }: Row): Entry<T> {
  return { key, value: JSON.parse(value) as T, version: versionText({ version }) };
}

/** The number as the file `.id` has it. */
function versionText({ version }: Pick<Row, "version">): string {
  return version.toString(16).padStart(16, "0");
}

/** Turns failures of the database into a {@link StoreFailure}. Bugs of the program are rethrown. */
function said<T>(statement: () => T): T {
  try {
    return statement();
  } catch (error) {
    if (error instanceof Error && isSqliteFailure(error.message)) throw new StoreFailure(error.message);
    throw error;
  }
}

// The lock of a file: one process owns it.

interface OwnerLock {
  release(): void;
}

/**
 * Locks the file for one process: two would each miss the other's figures, limits and background work. `node:` has no
 * lock of files, so a transaction that never ends locks an empty database beside it. The file itself stays readable to
 * a backup. The operating system releases the lock however the process ends, and started programs do not inherit it.
 *
 * @throws {Error} in one sentence
 */
async function lockFile(path: string, open: (file: string) => DatabaseSync): Promise<OwnerLock> {
  await makeOwnFile(path, `${path}.lock`);
  const database = open(`${path}.lock`);
  try {
    database.exec("begin exclusive");
  } catch (error) {
    database.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      why === LOCKED
        ? `The database ${path} is in use by another process; stop that one first.`
        : `The database ${path} cannot be opened: ${why}`,
    );
  }
  return { release: () => database.close() };
}
