/**
 * Reads listings that begin in one turn of the event loop with one statement, because the background work of a process
 * without requests makes ten of them a second that find nothing, and each would be a transaction.
 */
import { type Entry, type Listing, StoreFailure } from "../store.ts";
import type { Sql } from "./connections.ts";
import { decodeKey, encodeKey, endBelow } from "./key_codec.ts";

type Lists = (listings: readonly Listing[]) => Promise<readonly Entry<unknown>[][]>;

/** A longer listing has a statement of its own, so that short ones do not wait for it. */
const MAX_ROWS = 200;
const MAX_LISTINGS = 16;

/** Listings that go into one statement. */
interface Batch {
  readonly listings: Listing[];
  readonly found: Promise<readonly Entry<unknown>[][]>;
}

/** @param read reads several listings with one statement */
export function openListings(read: Lists): (listing: Listing) => Promise<readonly Entry<unknown>[]> {
  let waiting: Batch | undefined;
  const open = (): Batch => {
    const listings: Listing[] = [];
    const batch = {
      listings,
      found: new Promise<void>((resolve) => setTimeout(resolve, 0)).then(() => {
        if (waiting === batch) waiting = undefined;
        return read(listings);
      }),
    };
    return batch;
  };
  return async (listing) => {
    if (listing.limit > MAX_ROWS) return (await read([listing]))[0] ?? [];
    const batch = waiting !== undefined && waiting.listings.length < MAX_LISTINGS
      ? waiting
      : waiting = open();
    const place = batch.listings.push(listing) - 1;
    try {
      return (await batch.found)[place] ?? [];
    } catch (error) {
      // The statement took too long, perhaps for another listing.
      const isShared = batch.listings.length > 1;
      if (!isShared || !(error instanceof StoreFailure) || error.scope !== "statement") throw error;
      return (await read([listing]))[0] ?? [];
    }
  };
}

interface Row {
  readonly place: number;
  readonly key: string;
  readonly value: unknown;
  readonly version: string;
}

/** Each listing has its own plan and its own limit. */
export async function readListings(
  sql: Sql,
  listings: readonly Listing[],
): Promise<readonly Entry<unknown>[][]> {
  const parts = listings.map(({ prefix, after, limit }, place) =>
    sql`(select ${place}::integer as place, key, value, version from hub.entry
      where key > ${encodeKey(after ?? prefix)}::bytea and key < ${endBelow(prefix)}::bytea
      order by key limit ${limit})`
  );
  const rows = await sql<Row[]>`${parts.reduce((all, part) => sql`${all} union all ${part}`)}`;
  const found = listings.map((): Entry<unknown>[] => []);
  // A union keeps no order that the standard promises. The order of the texts is that of the keys.
  for (const { place, key, value, version } of rows.toSorted(byKey)) {
    found[place]?.push({ key: decodeKey(key), value, version });
  }
  return found;
}

function byKey({ key: one }: Row, { key: other }: Row): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
