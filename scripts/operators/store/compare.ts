/** Compares entries of two databases. */
import type { StoredEntry } from "./database.ts";

/** Deno KV takes the time from a commit to the expiry, so that an expiry moves by the time that the commit takes. */
const EXPIRY_MS = 10_000;

/** The first entry that is not alike on both sides. */
export interface Difference {
  readonly key: string;
  readonly what: "values differ" | "expiries differ" | "target lacks it" | "source lacks it";
}

/** Whether a database may have deleted the entry. */
export function isOver({ expiresAt }: StoredEntry, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Compares keys, values and expiries of the same range. Either side may lack entries that have expired. */
export function differenceOf(
  source: readonly StoredEntry[],
  target: readonly StoredEntry[],
): Difference | undefined {
  const now = Date.now();
  const copies = new Map(target.map((copy) => [copy.key, copy]));
  for (const entry of source) {
    const { key } = entry;
    const copy = copies.get(key);
    copies.delete(key);
    if (copy === undefined) {
      if (!isOver(entry, now)) return { key, what: "target lacks it" };
    } else if (copy.json !== entry.json) return { key, what: "values differ" };
    else if (!areExpiriesAlike(entry.expiresAt, copy.expiresAt)) return { key, what: "expiries differ" };
  }
  const extra = [...copies.values()].find((copy) => !isOver(copy, now + EXPIRY_MS));
  return extra && { key: extra.key, what: "source lacks it" };
}

function areExpiriesAlike(expiry: number | undefined, copied: number | undefined): boolean {
  if (expiry === undefined || copied === undefined) return expiry === copied;
  return copied >= expiry && copied - expiry <= EXPIRY_MS;
}
