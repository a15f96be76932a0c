/** Reads a page of a TPP's consents or payments (contract LS1, LS3). */
import { type Clock, COMMIT_WITHIN_MS, MAX_PROCESS_SKEW_MS } from "../../../base/kernel/clock.ts";
import type { Reader, Store } from "../../../base/store/store.ts";
import { isListComplete } from "./list_fill_store.ts";
import { listedPlace } from "../../config/store_keys.ts";
import { type Listed, type ListOf, listOf } from "./listed_store.ts";
import type { ListQuery } from "./list_query_schema.ts";

export interface ReadListDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export interface ListPage<T> {
  readonly found: readonly T[];
  /** Where the next page begins; undefined at the end. */
  readonly after: string | undefined;
  /** Whether the list has everything that an earlier version has created. */
  readonly isComplete: boolean;
}

/** Largest page, and entries that are read at once. */
export const PAGE = 100;
/** A page that a filter leaves short reads at most this many times {@link PAGE} entries. */
const READS = 5;
/** An entry may be committed this long after a younger one, because of a slow commit and another process's clock. */
const OVERTAKING_MS = COMMIT_WITHIN_MS + MAX_PROCESS_SKEW_MS;
/** Before every id of its time: ids are UUIDs, and this is the nil UUID (RFC 9562 §5.9). */
const NIL_ID = "00000000-0000-0000-0000-000000000000";

/**
 * Reads a page. Its cursor is never behind an entry that an older one may still overtake. A page of such entries
 * alone returns the cursor that was sent, so that the next one repeats them.
 *
 * @param read returns the consent or payment of each id that is asked for; undefined for one that is not shown
 */
export async function readList<T>(
  { store, clock }: ReadListDeps,
  from: Reader,
  list: ListOf,
  query: ListQuery,
  read: (ids: readonly string[]) => Promise<readonly (T | undefined)[]>,
): Promise<ListPage<T>> {
  const isComplete = await isListComplete(from);
  const settled = clock() - OVERTAKING_MS;
  const found: T[] = [];
  let last: Listed | undefined;
  let cursor = query.after ?? listedPlace(Math.max(0, settled), NIL_ID);
  for (let reads = 0; reads < READS; reads++) {
    const entries = await listOf(store, list, { ...query, after: last?.place ?? query.after }, PAGE);
    const shown = await read(entries.map(({ id }) => id));
    for (const [index, entry] of entries.entries()) {
      if (found.length === PAGE) return { found, after: cursor, isComplete };
      last = entry;
      if (entry.createdAt <= settled) cursor = entry.place;
      const one = shown[index];
      if (one !== undefined) found.push(one);
    }
    if (entries.length < PAGE) return { found, after: undefined, isComplete };
  }
  return { found, after: cursor, isComplete };
}
