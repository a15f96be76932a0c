/** Implements the storage port on Deno KV: a file, or `:memory:`. All reads are strongly consistent. */
import { keyText } from "./request_reads.ts";
import { monotonicClock } from "../kernel/clock.ts";
import {
  type Check,
  type Commit,
  type Entry,
  type Key,
  type Listing,
  type Store,
  StoreFailure,
  type Write,
} from "./store.ts";
import { type EntryCache, openEntryCache } from "./entry_cache.ts";
import type { FileEngine, OpeningHooks } from "./file_engine.ts";
import { openConcurrencyLimit, openGroupCommits } from "./group_commits.ts";
import { isSqliteFailure, LOCK_RETRY_MS, MAX_COMMIT_WAIT_MS, untilUnlocked } from "./sqlite_failure.ts";
import { openSpentJwts, type SpentJwts } from "./spent_jwts.ts";

/** Deno KV takes at most this many keys in one `getMany`. */
const MAX_KEYS_A_READ = 10;

/**
 * A lock outlives its holder for a moment: a program that the holder was just starting has the file open until it
 * runs.
 */
const MAX_HOLDER_WAIT_MS = 1000;
/**
 * The lifetime of an entry without expiry: 158,000 years, which no clock reaches. Deno KV has every entry in an index
 * of expiry times, and without a lifetime in the order of the keys, so that each new entry changes another page. With
 * this lifetime they are in the order of their commits.
 */
const NEVER_MS = 5e15;
/** A versionstamp is the number of the commit, followed by four zeros. All writes of a commit have the same one. */
const VERSION_DIGITS = 16;

/** How Deno KV keeps a file. */
export const DENO_KV_FILES: FileEngine = {
  open: openDenoKv,
  schema: {
    table: "migration_state",
    query: "select max(version) as n from migration_state",
    newest: 3, // this version of Deno would write a newer one as if it knew it
    writer: "Deno",
  },
  commits: { table: "data_version", query: "select max(version) as n from data_version" },
};

/**
 * Opens a Deno KV store. Only one process can use a file at a time.
 *
 * @param path a file path, or `:memory:`
 * @throws {Error} in one sentence if the database cannot be opened or another process has locked it
 */
export async function openDenoKv(path: string, hooks: OpeningHooks = {}): Promise<Store> {
  const lock = await lockFile(path);
  const limit = openConcurrencyLimit({ atOnce: 1, maxWaitMs: MAX_COMMIT_WAIT_MS });
  const opened: Deno.Kv[] = [];
  const open = async (): Promise<Deno.Kv> => {
    const kv = await openOrSayWhy(path);
    opened.push(kv);
    return kv;
  };
  const close = (): void => [...opened, lock].forEach((one) => one?.close());
  try {
    await hooks.beforeOpening?.();
    const kv = await open();
    // A commit that waits for the file's lock blocks its connection. Reads have their own connection.
    const reading = path === ":memory:" ? kv : await open();
    const snapshots = openSnapshots();
    const cache = openEntryCache(hooks.keeps ?? ((): boolean => false));
    // SQLite does not wait for the lock if a commit begins by reading the entries that it checks. A commit that failed
    // because the file was locked has not happened.
    const commitNow = (staged: Commit): Promise<boolean> =>
      cache.commit(staged, () => untilUnlocked(() => said(commit(kv, staged, hooks))));
    const listed = <T>(listing: Listing): Promise<Entry<T>[]> => said(list<T>(reading, listing));
    const spent = await openSpentJwts(listed, hooks);
    const commitInTurn = openGroupCommits(
      (whole) => spent.commit(whole, (staged) => snapshots.commit(staged, () => commitNow(staged))),
      limit,
    );
    const readMany = openReads(cache, reading, snapshots, spent);
    return {
      get: async <T>(key: Key): Promise<Entry<T> | null> => (await readMany<T>([key]))[0] ?? null,
      getMany: readMany,
      list: listed,
      commit: commitInTurn,
      close: () => Promise.resolve(close()),
    };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Awaits Deno KV and turns failures of the database, which it throws as a TypeError, into a {@link StoreFailure}. Bugs
 * of the program are rethrown, such as values beyond its limits, for which it throws a TypeError as well.
 */
async function said<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TypeError && isSqliteFailure(error.message)) throw new StoreFailure(error.message);
    throw error;
  }
}

/**
 * Locks the file for one process. Without this lock, a second process would only show as commits that fail with
 * "database is locked". The operating system releases the lock however the process ends.
 */
async function lockFile(path: string): Promise<Deno.FsFile | undefined> {
  if (path === ":memory:") return undefined;
  const lastTry = monotonicClock() + MAX_HOLDER_WAIT_MS;
  for (;;) {
    const file = await Deno.open(`${path}.lock`, { create: true, write: true, mode: 0o600 }).catch(
      (error: Error) => {
        throw new Error(`The database ${path} cannot be opened: ${error.message}`);
      },
    );
    if (await file.tryLock(true) && await isAt(file, `${path}.lock`)) return file;
    file.close();
    if (monotonicClock() >= lastTry) {
      throw new Error(`The database ${path} is in use by another process; stop that one first.`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
  }
}

/** Whether the path leads to this file. A tool removes the lock when it ends, and a lock without a name excludes no process. */
async function isAt(file: Deno.FsFile, path: string): Promise<boolean> {
  const [held, there] = await Promise.all([file.stat(), Deno.stat(path).catch(() => undefined)]);
  return held.dev === there?.dev && held.ino === there.ino;
}

async function openOrSayWhy(path: string): Promise<Deno.Kv> {
  try {
    return await Deno.openKv(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The database ${path} cannot be opened: ${why}`);
  }
}

/** Returns reads of single entries, which need no operation of the database if the cache has them all. */
function openReads(cache: EntryCache, kv: Deno.Kv, snapshots: Snapshots, spent: SpentJwts): Store["getMany"] {
  const read = (keys: readonly Key[]): Promise<(Entry<unknown> | null)[]> => {
    const all = (): Promise<(Entry<unknown> | null)[]> => said(getMany(kv, keys));
    return keys.length > MAX_KEYS_A_READ ? snapshots.read(keys, all) : all(); // Deno KV reads so many in one snapshot
  };
  const cached = (keys: readonly Key[]): Promise<readonly (Entry<unknown> | null)[]> =>
    cache.getMany(keys, read);
  return async <T>(keys: readonly Key[]) => await spent.getMany(keys, cached) as (Entry<T> | null)[];
}

async function getMany<T>(kv: Deno.Kv, keys: readonly Key[]): Promise<(Entry<T> | null)[]> {
  const batches: Key[][] = [];
  for (let start = 0; start < keys.length; start += MAX_KEYS_A_READ) {
    batches.push(keys.slice(start, start + MAX_KEYS_A_READ));
  }
  const read = await Promise.all(batches.map((batch) => kv.getMany<T[]>(batch.map((key) => [...key]))));
  return read.flat().map((entry) => asEntry(entry as Deno.KvEntryMaybe<T>));
}

async function list<T>(kv: Deno.Kv, { prefix, after, limit }: Listing): Promise<Entry<T>[]> {
  const selector = after === undefined
    ? { prefix: [...prefix] }
    : { prefix: [...prefix], start: [...after, ""] }; // the first key that can follow it
  const entries: Entry<T>[] = [];
  for await (const found of kv.list<T>(selector, { limit })) {
    const entry = asEntry(found);
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

/** @returns the version of the entries that it wrote, or undefined if a check failed */
async function commit(
  kv: Deno.Kv,
  { checks, writes }: Commit,
  hooks: OpeningHooks,
): Promise<string | undefined> {
  let operation = kv.atomic();
  for (const staged of checks) operation = operation.check(asKvCheck(staged));
  for (const write of writes) operation = stage(operation, write);
  const done = await operation.commit();
  if (!done.ok) return undefined;
  hooks.onCommitted?.(parseInt(done.versionstamp.slice(0, VERSION_DIGITS), 16));
  return done.versionstamp;
}

function stage(operation: Deno.AtomicOperation, write: Write): Deno.AtomicOperation {
  if (write.kind === "delete") return operation.delete([...write.key]);
  // Cleanup only. Readers reject an expired entry by its own expiresAt, whether or not it still exists.
  const expireIn = write.expiresAt === undefined ? NEVER_MS : Math.max(1, write.expiresAt - Date.now());
  return operation.set([...write.key], write.value, { expireIn });
}

/**
 * Returns the expiry of an entry from `expiration_ms` of Deno KV's table, or undefined if it has none.
 *
 * @param expiration milliseconds
 */
export function expiryIn(expiration: number): number | undefined {
  return expiration >= NEVER_MS ? undefined : expiration;
}

function asKvCheck({ key, version }: Check): Deno.AtomicCheck {
  return { key: [...key], versionstamp: version };
}

function asEntry<T>(entry: Deno.KvEntryMaybe<T>): Entry<T> | null {
  return entry.versionstamp === null
    ? null
    : { key: entry.key as Key, value: entry.value, version: entry.versionstamp };
}

// Makes a read of several steps a snapshot, for a database that this process alone changes. A read during which a commit
// wrote one of its entries is repeated while no commit runs.

export interface Snapshots {
  /** Returns what `read` returns, of one moment. */
  read<T>(keys: readonly Key[], read: () => Promise<T>): Promise<T>;
  /** Runs a commit, if need be after a read that is repeated. */
  commit<T>(staged: Commit, commit: () => Promise<T>): Promise<T>;
}

interface Writing {
  /** Made only if a read meets the commit. */
  readonly names: () => ReadonlySet<string>;
  readonly ended: Promise<void>;
}

interface Reading {
  readonly names: ReadonlySet<string>;
  isMixed: boolean;
}

export function openSnapshots(): Snapshots {
  const writings = new Set<Writing>();
  const readings = new Set<Reading>();
  /** The reads that no commit may join. */
  const alone = new Set<Promise<void>>();
  return {
    async read(keys, read) {
      const reading = asReading(keys, writings);
      readings.add(reading);
      try {
        const result = await read();
        if (!reading.isMixed) return result;
      } finally {
        readings.delete(reading);
      }
      const ended = Promise.withResolvers<void>();
      alone.add(ended.promise);
      try {
        await Promise.all([...writings].map((writing) => writing.ended));
        return await read();
      } finally {
        alone.delete(ended.promise);
        ended.resolve();
      }
    },
    async commit(staged, commit) {
      while (alone.size > 0) await Promise.all(alone);
      const ended = Promise.withResolvers<void>();
      const writing = { names: namesOnce(staged), ended: ended.promise };
      writings.add(writing);
      for (const reading of readings) reading.isMixed ||= !reading.names.isDisjointFrom(writing.names());
      try {
        return await commit();
      } finally {
        writings.delete(writing);
        ended.resolve();
      }
    },
  };
}

function asReading(keys: readonly Key[], writings: ReadonlySet<Writing>): Reading {
  const names = new Set(keys.map(keyText));
  return { names, isMixed: [...writings].some((writing) => !writing.names().isDisjointFrom(names)) };
}

function namesOnce({ writes }: Commit): Writing["names"] {
  let names: ReadonlySet<string> | undefined;
  return () => names ??= new Set(writes.map(({ key }) => keyText(key)));
}
