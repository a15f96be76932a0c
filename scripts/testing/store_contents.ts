/** The contents of a store, for comparisons. */
import { assertEquals } from "@std/assert";
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

/** Returns what `act` does, and asserts that it changed no state except used-up JWT ids. Sealed values stay sealed. */
export async function unchanged<T>({ raw }: { readonly raw: Store }, act: () => Promise<T>): Promise<T> {
  const versions = async (): Promise<string> =>
    (await snapshot(raw)).map(({ key, version }) => `${key.join(" ")}: ${version}`).join("\n");
  const before = await versions();
  const result = await act();
  assertEquals(await versions(), before);
  return result;
}
