/** Reads a page of a TPP's consents or payments (contract LS1, LS3). */
import type { Clock } from "../../../base/kernel/clock.ts";
import { PAGE, readPage } from "../../../base/store/page.ts";
import type { Store } from "../../../base/store/store.ts";
import { type ListOf, listOf } from "./lookup_store.ts";
import type { ListQuery } from "./list_query_schema.ts";
import { settledBefore } from "./settled_entries.ts";

export interface ReadListDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export interface ListPage<T> {
  readonly found: readonly T[];
  /** Where the next page begins; undefined at the end. */
  readonly after: string | undefined;
}

/** A page that a filter leaves short reads at most this many times {@link PAGE} entries. */
const READS = 5;

/**
 * Reads a page. Its cursor is never behind an entry that an older one may still overtake. A page of such entries
 * alone returns the cursor that was sent, so that the next one repeats them.
 *
 * @param read returns the consent or payment of each id that is asked for; undefined for one that is not shown
 */
export async function readList<T>(
  { store, clock }: ReadListDeps,
  list: ListOf,
  query: ListQuery,
  read: (ids: readonly string[]) => Promise<readonly (T | undefined)[]>,
): Promise<ListPage<T>> {
  const settled = settledBefore(clock());
  const paging = { after: query.after, limit: PAGE, reads: READS, settled: settled.place };
  const { found, next } = await readPage(paging, async (after, limit) => {
    const entries = await listOf(store, list, { ...query, after }, limit);
    const shown = await read(entries.map(({ id }) => id));
    return entries.map((entry, index) => ({
      place: entry.place,
      shown: shown[index],
      mayBeOvertaken: settled.isBefore(entry),
    }));
  });
  return { found, after: next };
}
