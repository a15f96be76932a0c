/** The storage port on Deno KV: an embedded file, or `:memory:`. Strong reads only. */
import type { Check, Commit, Entry, Key, Listing, Store, Write } from "./store.ts";

/** Deno KV takes at most this many keys in one `getMany`. */
const MAX_KEYS_A_READ = 10;

/**
 * Opens a Deno KV store. A file belongs to one process at a time.
 *
 * @param path a file path, or `:memory:`
 * @throws {Error} in one sentence where the database cannot be opened or another process holds it
 */
export async function openDenoKv(path: string): Promise<Store> {
  const lock = await lockFile(path);
  const kv = await openOrSayWhy(path).catch((error: Error) => {
    lock?.close();
    throw error;
  });
  return {
    get: async <T>(key: Key): Promise<Entry<T> | null> => asEntry(await kv.get<T>([...key])),
    getMany: <T>(keys: readonly Key[]): Promise<(Entry<T> | null)[]> => getMany<T>(kv, keys),
    list: <T>(listing: Listing): Promise<Entry<T>[]> => list<T>(kv, listing),
    commit: (staged: Commit): Promise<boolean> => commit(kv, staged),
    close(): void {
      kv.close();
      lock?.close();
    },
  };
}

/**
 * A file is one process's: two would only notice each other by commits that fail with "database is locked". The lock
 * belongs to the open file, so the operating system releases it however the process ends.
 */
async function lockFile(path: string): Promise<Deno.FsFile | undefined> {
  if (path === ":memory:") return undefined;
  const file = await Deno.open(`${path}.lock`, { create: true, write: true, mode: 0o600 }).catch(
    (error: Error) => {
      throw new Error(`The database ${path} cannot be opened: ${error.message}`);
    },
  );
  if (await file.tryLock(true)) return file;
  file.close();
  throw new Error(`The database ${path} is in use by another process; stop that one first.`);
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
    : { prefix: [...prefix], start: [...after, ""] }; // the first key that can come after it
  const entries: Entry<T>[] = [];
  for await (const found of kv.list<T>(selector, { limit })) {
    const entry = asEntry(found);
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

async function commit(kv: Deno.Kv, { checks, writes }: Commit): Promise<boolean> {
  let operation = kv.atomic();
  for (const staged of checks) operation = operation.check(asKvCheck(staged));
  for (const write of writes) operation = stage(operation, write);
  return (await operation.commit()).ok;
}

function stage(operation: Deno.AtomicOperation, write: Write): Deno.AtomicOperation {
  if (write.kind === "delete") return operation.delete([...write.key]);
  if (write.expiresAt === undefined) return operation.set([...write.key], write.value);
  // Tidiness only: what has expired is rejected by its own expiresAt, whether or not it is still here.
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
