/**
 * Keeps entries of a database in memory, for a database that this process alone changes. The cache has what the database
 * has: a commit removes the entries that it writes before the database begins, and adds them when it has ended.
 * Readers share frozen values.
 */
import { keyText } from "./request_reads.ts";
import { freezeDeep } from "../kernel/json.ts";
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
  /** Names of which no entry exists. Callers can ask for any number of these, so they do not displace entries. */
  readonly absent: RecentlyUsed<Kept>;
  readonly readings: Set<Reading>;
  readonly writings: Map<string, Writing>;
}

/** Of all names and of the JSON of all values. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_ABSENT = 1000;
const ABSENT: Kept = { found: null };

/** @param keeps whether entries with this key are kept: small ones that many requests read */
export function openEntryCache(keeps: (key: Key) => boolean): EntryCache {
  const state: State = {
    kept: openRecentlyUsed<Kept>(MAX_CHARACTERS),
    absent: openRecentlyUsed<Kept>(MAX_ABSENT),
    readings: new Set(),
    writings: new Map(),
  };
  return {
    async getMany(keys, read) {
      const wanted = keys.map((key): Wanted => {
        const name = keeps(key) ? keyText(key) : undefined;
        return { key, name, known: name === undefined ? undefined : recall(state, name) };
      });
      return wanted.every(({ known }) => known !== undefined)
        ? wanted.map(({ known }) => known?.found ?? null)
        : await readMissing(state, wanted, read);
    },
    async commit(staged, commit) {
      const writes = new Map<string, Write>();
      for (const write of staged.writes) if (keeps(write.key)) writes.set(keyText(write.key), write);
      begin(state, writes.keys());
      let version: string | undefined;
      try {
        version = await commit();
        return version !== undefined;
      } finally {
        end(state, writes, version);
        // After a conflict the caller reads again. The database may have deleted an expired entry by itself.
        if (version === undefined) staged.checks.forEach(({ key }) => forget(state, keyText(key)));
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
  state: State,
  wanted: readonly Wanted[],
  read: ReadEntries,
): Promise<readonly Found[]> {
  const { readings, writings } = state;
  const names = wanted.flatMap(({ name }) => name === undefined ? [] : [name]);
  const reading = { names: new Set(names), changed: new Set(names.filter((name) => writings.has(name))) };
  const hasChanged = (name: string | undefined): boolean => name !== undefined && reading.changed.has(name);
  readings.add(reading);
  try {
    const missing = wanted.filter(({ known }) => known === undefined);
    const entries = await read(missing.map(({ key }) => key));
    const found = new Map(missing.map((one, index) => [one, entries[index] ?? null]));
    for (const [{ name }, entry] of found) {
      if (name !== undefined && !hasChanged(name)) keep(state, name, entry);
    }
    const isMixed = wanted.some(({ known, name }) => known !== undefined && hasChanged(name));
    // Entries from before and from after one commit are not one snapshot.
    if (isMixed) return await read(wanted.map(({ key }) => key));
    return wanted.map((one) => one.known?.found ?? found.get(one) ?? null);
  } finally {
    readings.delete(reading);
  }
}

/** A commit that writes these entries begins. */
function begin(state: State, names: Iterable<string>): void {
  const { readings, writings } = state;
  for (const name of names) {
    forget(state, name);
    const former = writings.get(name);
    writings.set(name, { count: (former?.count ?? 0) + 1, isDisputed: former !== undefined });
    for (const reading of readings) if (reading.names.has(name)) reading.changed.add(name);
  }
}

/** A commit has ended. Without a version no write happened. */
function end(state: State, writes: ReadonlyMap<string, Write>, version: string | undefined): void {
  const { writings } = state;
  for (const [name, write] of writes) {
    const { count, isDisputed } = writings.get(name) ?? { count: 1, isDisputed: true };
    if (count > 1) writings.set(name, { count: count - 1, isDisputed: true });
    else writings.delete(name);
    if (version === undefined || isDisputed) continue;
    keep(state, name, write.kind === "delete" ? null : { key: write.key, value: write.value, version });
  }
}

function recall({ kept, absent }: State, name: string): Kept | undefined {
  return kept.get(name) ?? absent.get(name);
}

function keep({ kept, absent }: State, name: string, found: Found): void {
  if (found === null) return void absent.set(name, ABSENT);
  const size = name.length + JSON.stringify(found.value).length;
  kept.set(name, { found: freezeDeep(found) }, { size });
}

function forget({ kept, absent }: State, name: string): void {
  kept.delete(name);
  absent.delete(name);
}
