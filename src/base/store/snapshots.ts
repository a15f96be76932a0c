/**
 * Makes a read of several steps a snapshot, for a database that this process alone changes. A read during which a commit
 * wrote one of its entries is repeated while no commit runs.
 */
import type { Commit, Key } from "./store.ts";

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
  const names = new Set(keys.map(nameOf));
  return { names, isMixed: [...writings].some((writing) => !writing.names().isDisjointFrom(names)) };
}

function namesOnce({ writes }: Commit): Writing["names"] {
  let names: ReadonlySet<string> | undefined;
  return () => names ??= new Set(writes.map(({ key }) => nameOf(key)));
}

function nameOf(key: Key): string {
  return JSON.stringify(key);
}
