/** Implements the storage port on Deno KV: a file, or `:memory:`. All reads are strongly consistent. */
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
import { openGroupCommits } from "./group_commits.ts";
import { openTurns } from "./turns.ts";

/** Deno KV takes at most this many keys in one `getMany`. */
const MAX_KEYS_A_READ = 10;

/** The next commit waits inside Deno KV, so that the database is never idle. */
const COMMITS_AT_ONCE = 2;
/** Longest wait for the lock of another process. SQLite itself uses the same time if a commit has no checks. */
const LOCK_PATIENCE_MS = 5000;
/**
 * A lock outlives its holder for a moment: a program that the holder was just starting has the file open until it
 * runs.
 */
const HOLDER_PATIENCE_MS = 1000;
const LOCK_RETRY_MS = 50;
/** Longer than {@link LOCK_PATIENCE_MS}, because commits before it may wait for the lock. */
const TURN_PATIENCE_MS = 6000;
const LOCKED = "database is locked";
/** A versionstamp is the number of the commit, followed by the index of the write in it. */
const VERSION_DIGITS = 16;

/**
 * The messages of SQLite (`sqlite3_errstr`) for a database that cannot be used now. Deno KV throws them as a
 * TypeError. It also throws a TypeError for values beyond its limits, which are bugs of the program.
 */
const FAILURES: ReadonlySet<string> = new Set([
  "access permission denied",
  "attempt to write a readonly database",
  "database disk image is malformed",
  LOCKED,
  "database or disk is full",
  "database table is locked",
  "disk I/O error",
  "file is not a database",
  "locking protocol",
  "out of memory",
  "unable to open database file",
]);

export interface OpeningHooks {
  /** Runs after the file is locked and before the database is opened. */
  beforeOpening?(): Promise<void>;
  /** Receives the number of each commit. A later commit has a higher number. */
  onCommitted?(version: number): void;
}

/**
 * Opens a Deno KV store. Only one process can use a file at a time.
 *
 * @param path a file path, or `:memory:`
 * @throws {Error} in one sentence if the database cannot be opened or another process has locked it
 */
export async function openDenoKv(path: string, hooks: OpeningHooks = {}): Promise<Store> {
  const lock = await lockFile(path);
  const turns = openTurns({ atOnce: COMMITS_AT_ONCE, patienceMs: TURN_PATIENCE_MS });
  const opened: Deno.Kv[] = [];
  const open = async (): Promise<Deno.Kv> => {
    const kv = await openOrSayWhy(path);
    opened.push(kv);
    return kv;
  };
  const close = (): void => {
    for (const kv of opened) kv.close();
    lock?.close();
  };
  try {
    await hooks.beforeOpening?.();
    const kv = await open();
    // A commit that waits for the file's lock blocks its connection. Reads have their own connection.
    const reading = path === ":memory:" ? kv : await open();
    const commitInTurn = openGroupCommits((staged) => commitPatiently(kv, staged, hooks), turns);
    return {
      get: async <T>(key: Key): Promise<Entry<T> | null> => asEntry(await said(reading.get<T>([...key]))),
      getMany: <T>(keys: readonly Key[]): Promise<(Entry<T> | null)[]> => said(getMany<T>(reading, keys)),
      list: <T>(listing: Listing): Promise<Entry<T>[]> => said(list<T>(reading, listing)),
      commit: commitInTurn,
      close: () => Promise.resolve(close()),
    };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Awaits Deno KV and turns failures of the database into a {@link StoreFailure}. Bugs of the program are rethrown.
 */
async function said<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TypeError && FAILURES.has(error.message)) throw new StoreFailure(error.message);
    throw error;
  }
}

/**
 * Locks the file for one process. Without this lock, a second process would only show as commits that fail with
 * "database is locked". The operating system releases the lock however the process ends.
 */
async function lockFile(path: string): Promise<Deno.FsFile | undefined> {
  if (path === ":memory:") return undefined;
  const file = await Deno.open(`${path}.lock`, { create: true, write: true, mode: 0o600 }).catch(
    (error: Error) => {
      throw new Error(`The database ${path} cannot be opened: ${error.message}`);
    },
  );
  const lastTry = monotonicClock() + HOLDER_PATIENCE_MS;
  while (!await file.tryLock(true)) {
    if (monotonicClock() >= lastTry) {
      file.close();
      throw new Error(`The database ${path} is in use by another process; stop that one first.`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
  }
  return file;
}

async function openOrSayWhy(path: string): Promise<Deno.Kv> {
  try {
    return await Deno.openKv(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The database ${path} cannot be opened: ${why}`);
  }
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

/**
 * SQLite does not wait for the lock if a commit begins by reading the entries that it checks. A commit that failed
 * because the file was locked has not happened, so it is retried. No other failure is retried.
 */
async function commitPatiently(kv: Deno.Kv, staged: Commit, hooks: OpeningHooks): Promise<boolean> {
  const lastTry = monotonicClock() + LOCK_PATIENCE_MS;
  while (true) {
    try {
      return await said(commit(kv, staged, hooks));
    } catch (error) {
      const isLocked = error instanceof StoreFailure && error.message === LOCKED;
      if (!isLocked || monotonicClock() >= lastTry) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
  }
}

async function commit(kv: Deno.Kv, { checks, writes }: Commit, hooks: OpeningHooks): Promise<boolean> {
  let operation = kv.atomic();
  for (const staged of checks) operation = operation.check(asKvCheck(staged));
  for (const write of writes) operation = stage(operation, write);
  const done = await operation.commit();
  if (done.ok) hooks.onCommitted?.(parseInt(done.versionstamp.slice(0, VERSION_DIGITS), 16));
  return done.ok;
}

function stage(operation: Deno.AtomicOperation, write: Write): Deno.AtomicOperation {
  if (write.kind === "delete") return operation.delete([...write.key]);
  if (write.expiresAt === undefined) return operation.set([...write.key], write.value);
  // Cleanup only. Readers reject an expired entry by its own expiresAt, whether or not it still exists.
  return operation.set([...write.key], write.value, { expireIn: Math.max(1, write.expiresAt - Date.now()) });
}

function asKvCheck({ key, version }: Check): Deno.AtomicCheck {
  return { key: [...key], versionstamp: version };
}

function asEntry<T>(entry: Deno.KvEntryMaybe<T>): Entry<T> | null {
  return entry.versionstamp === null
    ? null
    : { key: entry.key as Key, value: entry.value, version: entry.versionstamp };
}
