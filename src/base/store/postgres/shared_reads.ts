/**
 * Makes reads that begin in one turn of the event loop with one statement, because the background work of a process
 * without requests makes a dozen of them a second that find nothing, and each would be a transaction.
 */
import { type Entry, type Key, type Listing, StoreFailure } from "../store.ts";
import type { Sql } from "./connections.ts";
import { decodeKey, encodeKey, endBelow } from "./key_codec.ts";

/** Entries in the order of their keys, or the one of a key. */
export type Read = Listing | { readonly key: Key };

type ReadAll = (reads: readonly Read[]) => Promise<readonly Entry<unknown>[][]>;

/** A longer listing has a statement of its own, so that short ones do not wait for it. */
const MAX_ROWS = 200;
const MAX_READS = 16;

/** Reads that go into one statement. */
interface Batch {
  readonly reads: Read[];
  readonly found: Promise<readonly Entry<unknown>[][]>;
}

export interface SharedReads {
  list(listing: Listing): Promise<readonly Entry<unknown>[]>;
  /** Joins listings that wait, or returns undefined: a key alone is read at once. */
  join(key: Key): Promise<readonly Entry<unknown>[]> | undefined;
}

/** @param readAll makes several reads with one statement */
export function openSharedReads(readAll: ReadAll): SharedReads {
  let waiting: Batch | undefined;
  const open = (): Batch => {
    const reads: Read[] = [];
    const batch = {
      reads,
      found: new Promise<void>((resolve) => setTimeout(resolve, 0)).then(() => {
        if (waiting === batch) waiting = undefined;
        return readAll(reads);
      }),
    };
    return batch;
  };
  const alone = async (read: Read): Promise<readonly Entry<unknown>[]> => (await readAll([read]))[0] ?? [];
  const sharing = async ({ reads, found }: Batch, read: Read): Promise<readonly Entry<unknown>[]> => {
    const place = reads.push(read) - 1;
    try {
      return (await found)[place] ?? [];
    } catch (error) {
      // The statement took too long, perhaps for another read.
      const isShared = reads.length > 1;
      if (!isShared || !(error instanceof StoreFailure) || error.scope !== "statement") throw error;
      return await alone(read);
    }
  };
  const free = (): Batch | undefined =>
    waiting !== undefined && waiting.reads.length < MAX_READS ? waiting : undefined;
  return {
    list: (listing) =>
      listing.limit > MAX_ROWS ? alone(listing) : sharing(free() ?? (waiting = open()), listing),
    join(key) {
      const batch = free();
      return batch === undefined ? undefined : sharing(batch, { key });
    },
  };
}

interface Row {
  readonly place: number;
  readonly key: string;
  readonly value: unknown;
  readonly version: string;
}

/** Each listing has its own plan and its own limit. */
export async function readTogether(sql: Sql, reads: readonly Read[]): Promise<readonly Entry<unknown>[][]> {
  const parts = reads.map((read, place) =>
    "key" in read
      ? sql`(select ${place}::integer as place, key, value, version from hub.entry
      where key = ${encodeKey(read.key)}::bytea)`
      : sql`(select ${place}::integer as place, key, value, version from hub.entry
      where key > ${encodeKey(read.after ?? read.prefix)}::bytea and key < ${endBelow(read.prefix)}::bytea
      order by key limit ${read.limit})`
  );
  const rows = await sql<Row[]>`${parts.reduce((all, part) => sql`${all} union all ${part}`)}`;
  const found = reads.map((): Entry<unknown>[] => []);
  // A union keeps no order that the standard promises. The order of the texts is that of the keys.
  for (const { place, key, value, version } of rows.toSorted(byKey)) {
    found[place]?.push({ key: decodeKey(key), value, version });
  }
  return found;
}

function byKey({ key: one }: Row, { key: other }: Row): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
