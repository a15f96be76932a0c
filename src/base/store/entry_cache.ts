/**
 * Keeps entries of a database in memory, for a database that this process alone changes. What is in the cache is what the
 * database has: a commit removes the entries that it writes before the database begins, and adds them when it has ended.
 */
import { openRecentlyUsed, type RecentlyUsed } from "../kernel/recently_used.ts";
import type { Commit, Entry, Key, Write } from "./store.ts";

type Found = Entry<unknown> | null;
type ReadEntries = (keys: readonly Key[]) => Promise<readonly Found[]>;

export interface EntryCache {
  /** Returns entries in the order of the keys, in one snapshot. `read` gets those that the cache does not have. */
  getMany(keys: readonly Key[], read: ReadEntries): Promise<readonly Found[]>;
  /**
   * Commits, and keeps what was written.
   *
   * @param commit returns the version of all entries that it wrote, or undefined if a check failed
   * @returns whether the commit happened
   */
  commit(staged: Commit, commit: () => Promise<string | undefined>): Promise<boolean>;
}

/** An entry that is kept, also that none exists. */
interface Kept {
  readonly found: Found;
}

/** A read under way. */
interface Reading {
  readonly names: ReadonlySet<string>;
  /** Names whose entries a commit has begun to write meanwhile. */
  readonly changed: Set<string>;
}

/** Commits under way that write one entry. */
interface Writing {
  readonly count: number;
  /** Which one of several commits was the last is not known. */
  readonly isDisputed: boolean;
}

interface State {
  readonly kept: RecentlyUsed<Kept>;
  readonly readings: Set<Reading>;
  readonly writings: Map<string, Writing>;
}

/** Entries have a few kilobytes at most. */
const MAX_ENTRIES = 2000;

/** @param keeps whether entries with this key are kept: small ones that many requests read */
export function openEntryCache(keeps: (key: Key) => boolean): EntryCache {
  const state: State = {
    kept: openRecentlyUsed<Kept>(MAX_ENTRIES),
    readings: new Set(),
    writings: new Map(),
  };
  return {
    async getMany(keys, read) {
      if (!keys.some(keeps)) return await read(keys);
      const wanted = keys.map((key): Wanted => {
        const name = keeps(key) ? nameOf(key) : undefined;
        return { key, name, known: name === undefined ? undefined : state.kept.get(name) };
      });
      return wanted.every(({ known }) => known !== undefined)
        ? wanted.map(({ known }) => known?.found ?? null)
        : await readMissing(state, wanted, read);
    },
    async commit(staged, commit) {
      const writes = new Map<string, Write>();
      for (const write of staged.writes) if (keeps(write.key)) writes.set(nameOf(write.key), write);
      begin(state, writes.keys());
      let version: string | undefined;
      try {
        version = await commit();
        return version !== undefined;
      } finally {
        end(state, writes, version);
        // After a conflict the caller reads again. The database may have deleted an expired entry by itself.
        if (version === undefined) staged.checks.forEach(({ key }) => state.kept.delete(nameOf(key)));
      }
    },
  };
}

/** An entry that is read. It has a name if it may be kept. */
interface Wanted {
  readonly key: Key;
  readonly name: string | undefined;
  readonly known: Kept | undefined;
}

async function readMissing(
  { kept, readings, writings }: State,
  wanted: readonly Wanted[],
  read: ReadEntries,
): Promise<readonly Found[]> {
  const names = wanted.flatMap(({ name }) => name === undefined ? [] : [name]);
  const reading = { names: new Set(names), changed: new Set(names.filter((name) => writings.has(name))) };
  const hasChanged = (name: string | undefined): boolean => name !== undefined && reading.changed.has(name);
  readings.add(reading);
  try {
    const missing = wanted.filter(({ known }) => known === undefined);
    const entries = await read(missing.map(({ key }) => key));
    const found = new Map(missing.map((one, index) => [one, entries[index] ?? null]));
    for (const [{ name }, entry] of found) {
      if (name !== undefined && !hasChanged(name)) kept.set(name, { found: frozen(entry) });
    }
    const isMixed = wanted.some(({ known, name }) => known !== undefined && hasChanged(name));
    if (isMixed) return await read(wanted.map(({ key }) => key)); // else from before and after one commit
    return wanted.map((one) => one.known?.found ?? found.get(one) ?? null);
  } finally {
    readings.delete(reading);
  }
}

/** A commit that writes these entries begins. */
function begin({ kept, readings, writings }: State, names: Iterable<string>): void {
  for (const name of names) {
    kept.delete(name);
    const former = writings.get(name);
    writings.set(name, { count: (former?.count ?? 0) + 1, isDisputed: former !== undefined });
    for (const reading of readings) if (reading.names.has(name)) reading.changed.add(name);
  }
}

/** A commit has ended. It has written nothing if it has no version. */
function end(
  { kept, writings }: State,
  writes: ReadonlyMap<string, Write>,
  version: string | undefined,
): void {
  for (const [name, write] of writes) {
    const { count, isDisputed } = writings.get(name) ?? { count: 1, isDisputed: true };
    if (count > 1) writings.set(name, { count: count - 1, isDisputed: true });
    else writings.delete(name);
    if (version === undefined || isDisputed) continue;
    const found = write.kind === "delete" ? null : { key: write.key, value: write.value, version };
    kept.set(name, { found: frozen(found) });
  }
}

function nameOf(key: Key): string {
  return JSON.stringify(key);
}

/** Readers share one value: code that changes it fails at once. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) {
    return value;
  }
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}
