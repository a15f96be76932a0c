/** The storage port in memory: versions, ordered listings and atomic commits, without any latency or fault. */
import type { Check, Commit, Entry, Key, Listing, Store, Write } from "../../../src/base/store/store.ts";

/** A database that several processes share and that outlives them. */
export interface Database {
  /** Every operation, at once. */
  readonly get: <T>(key: Key) => Entry<T> | null;
  readonly list: <T>(listing: Listing) => Entry<T>[];
  readonly commit: (commit: Commit) => boolean;
  /** The database as it is now, for {@link restore}. */
  snapshot(): Snapshot;
  restore(snapshot: Snapshot): void;
}

/** A copy of a database. */
export interface Snapshot {
  readonly entries: ReadonlyMap<string, Entry<unknown>>;
  readonly names: readonly string[];
}

/** Told of every commit that took place. */
export type OnCommit = (writes: readonly Write[], before: (key: Key) => unknown) => void;

/** An empty database. */
export function openDatabase(onCommit: OnCommit = () => {}): Database {
  let entries = new Map<string, Entry<unknown>>();
  let names: string[] = [];
  let version = 0;
  const holds = ({ key, version }: Check): boolean => (entries.get(nameOf(key))?.version ?? null) === version;
  function write(staged: Write): void {
    const name = nameOf(staged.key);
    const isNew = !entries.has(name);
    if (staged.kind === "delete") {
      if (!isNew) names.splice(placeOf(names, name), 1);
      entries.delete(name);
      return;
    }
    if (isNew) names.splice(placeOf(names, name), 0, name);
    entries.set(name, { key: staged.key, value: frozenCopy(staged.value), version: String(++version) });
  }
  return {
    get: <T>(key: Key) => (entries.get(nameOf(key)) ?? null) as Entry<T> | null,
    list<T>({ prefix, after, limit }: Listing) {
      const below = prefix.map(partOf).join("");
      let at = placeOf(names, after === undefined ? below : nameOf(after));
      const found: Entry<T>[] = [];
      for (; at < names.length && found.length < limit; at++) {
        const name = names[at] ?? "";
        if (!name.startsWith(below)) break;
        const entry = entries.get(name);
        const isListed = name.length > below.length && (after === undefined || name !== nameOf(after));
        if (entry !== undefined && isListed) found.push(entry as Entry<T>);
      }
      return found;
    },
    commit({ checks, writes }) {
      if (!checks.every(holds)) return false;
      onCommit(writes, (key) => entries.get(nameOf(key))?.value);
      writes.forEach(write);
      return true;
    },
    snapshot: () => ({ entries: new Map(entries), names: [...names] }),
    restore(snapshot) {
      entries = new Map(snapshot.entries);
      names = [...snapshot.names];
      version += 1_000_000; // versions of the lost time are never given again
    },
  };
}

/** The database as one process's store, without latency: for the store contract and for setting up. */
export function directStore(database: Database): Store {
  return {
    get: (key) => Promise.resolve(database.get(key)),
    getMany: <T>(keys: readonly Key[]) => Promise.resolve(keys.map((key) => database.get<T>(key))),
    list: (listing) => Promise.resolve(database.list(listing)),
    commit: (commit) => Promise.resolve(database.commit(commit)),
    close: () => Promise.resolve(),
  };
}

/** A frozen copy of a JSON value: what its writer keeps changes nothing that is stored. */
function frozenCopy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  const copy: Record<string, unknown> = {};
  for (const name in value) copy[name] = frozenCopy((value as Readonly<Record<string, unknown>>)[name]);
  return Object.freeze(copy);
}

/** Text that sorts as the key does, part by part; no key's text is the beginning of another's part. */
function nameOf(key: Key): string {
  let name = "";
  for (const part of key) name += partOf(part);
  return name;
}

function partOf(part: string): string {
  return `${part.includes("\0") ? part.replaceAll("\0", "\0\x01") : part}\0\0`;
}

function placeOf(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((names[middle] ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
