/** The contents of a store, for comparisons. */
import type { Entry, Store } from "../../src/base/store/store.ts";

export function everything(store: Store): Promise<Entry<unknown>[]> {
  return store.list<unknown>({ prefix: [], limit: 10_000 });
}

const UNCOUNTED: ReadonlySet<string> = new Set([
  "spent_jwt",
  "spent_jwts",
  "rate_bucket",
  "kept_copy",
  "kept_piece",
  "age_mark",
  "day_figures",
  "funnel_case",
  "funnel_day",
]);

/** Returns the records that show whether any state changed. */
export async function snapshot(store: Store): Promise<readonly Entry<unknown>[]> {
  const entries = await everything(store);
  return entries.filter(({ key }) => !UNCOUNTED.has(key[0] ?? ""));
}
