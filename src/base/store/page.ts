/** Reads lists: a page of one, or all entries in pieces. All lists end in the same way. */
import type { Entry, Key, Listing } from "./store.ts";

/** The largest page of a list (contract LS3). */
export const PAGE = 100;

/** An entry that was read. */
export interface Row<T, P> {
  /** Its place in the list. A read after this place begins with the next entry. */
  readonly place: P;
  /** What the page shows of it; undefined if the entry does not belong on the page. */
  readonly shown: T | undefined;
  /** Whether an entry may still be committed before this one. The next page begins before it. */
  readonly mayBeOvertaken?: boolean;
}

export interface Page<T, P> {
  readonly found: readonly T[];
  /** Where the next page begins; undefined at the end of the list. */
  readonly next: P | undefined;
}

export interface Paging<P> {
  /** The `next` of an earlier page. */
  readonly after: P | undefined;
  /** Maximum number of entries that the page shows. */
  readonly limit: number;
  /** Maximum number of reads for a page that would otherwise be short, 1 by default. */
  readonly reads?: number;
  /** Number of entries in a read, `limit` by default. */
  readonly perRead?: number;
  /** The `next` of a page without `after` whose entries may all be overtaken. */
  readonly settled?: P;
}

/**
 * Reads a page.
 *
 * @param read returns every entry after a place, in order, up to `limit`. Only at the end of the list does it return
 * fewer: an entry that the page does not show is a row without `shown`.
 */
export async function readPage<T, P>(
  { after, limit, reads = 1, perRead = limit, settled }: Paging<P>,
  read: (after: P | undefined, limit: number) => Promise<readonly Row<T, P>[]>,
): Promise<Page<T, P>> {
  const found: T[] = [];
  let last = after;
  let next = after ?? settled;
  for (let made = 0; made < reads; made++) {
    const rows = await read(last, perRead);
    for (const { place, shown, mayBeOvertaken = false } of rows) {
      if (found.length === limit) return { found, next };
      last = place;
      if (!mayBeOvertaken) next = place;
      if (shown !== undefined) found.push(shown);
    }
    if (rows.length < perRead) return { found, next: undefined };
  }
  return { found, next };
}

/**
 * Reads every entry below a prefix, in order.
 *
 * @param size of a piece
 * @param most after so many entries no further piece is read
 */
export async function* piecesBelow(
  store: { readonly list: (listing: Listing) => Promise<Entry<unknown>[]> },
  prefix: Key,
  size: number,
  most: number = Infinity,
): AsyncGenerator<readonly Entry<unknown>[]> {
  let after: Key | undefined;
  for (let read = 0; read < most; read += size) {
    const piece = await store.list({ prefix, limit: size, ...(after === undefined ? {} : { after }) });
    if (piece.length > 0) yield piece;
    if (piece.length < size) return;
    after = piece.at(-1)?.key;
  }
}
