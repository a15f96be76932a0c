/** A store that counts listings and the rows that they return. */
import { openDenoKv } from "../../src/base/store/deno_kv.ts";
import type { Store } from "../../src/base/store/store.ts";

export interface ListedStore extends Store {
  /** What an act has listed. Acts must not overlap. */
  listedBy(act: () => Promise<unknown>): Promise<{ readonly lists: number; readonly rows: number }>;
}

export async function openListedStore(): Promise<ListedStore> {
  const store = await openDenoKv(":memory:");
  const cost = { lists: 0, rows: 0 };
  return {
    ...store,
    async list<T>(listing: Parameters<Store["list"]>[0]) {
      const rows = await store.list<T>(listing);
      cost.lists++;
      cost.rows += rows.length;
      return rows;
    },
    async listedBy(act) {
      Object.assign(cost, { lists: 0, rows: 0 });
      await act();
      return { ...cost };
    },
  };
}
