/** A store that counts round trips and writes per request. Rate limits are drawn in blocks and not counted. */
import { openTestStore } from "testing/test_store.ts";
import type { Commit, Key, Store } from "../../src/base/store/store.ts";

/** Round trips of an act, and the contents of its commits. */
export interface StoreCost {
  readonly reads: number;
  readonly commits: number;
  readonly checks: number;
  readonly writes: number;
  /** Size of all written values as JSON. */
  readonly bytes: number;
}

/** An in-memory store that counts. */
export interface CountedStore extends Store {
  /** The cost of an act; acts must not overlap. */
  costOf<T>(act: () => Promise<T>): Promise<{ readonly result: T; readonly cost: StoreCost }>;
}

const NOTHING = { reads: 0, commits: 0, checks: 0, writes: 0, bytes: 0 };

export async function openCountedStore(): Promise<CountedStore> {
  const store = await openTestStore();
  const cost = { ...NOTHING };
  const readOf = (key: Key | undefined): void => void (cost.reads += key?.[0] === "rate_bucket" ? 0 : 1);
  return {
    ...store,
    get(key) {
      readOf(key);
      return store.get(key);
    },
    getMany(keys) {
      readOf(keys[0]);
      return store.getMany(keys);
    },
    list(listing) {
      readOf(listing.prefix);
      return store.list(listing);
    },
    commit(staged) {
      if (staged.writes[0]?.key[0] !== "rate_bucket") add(cost, staged);
      return store.commit(staged);
    },
    async costOf(act) {
      Object.assign(cost, NOTHING);
      const result = await act();
      return { result, cost: { ...cost } };
    },
  };
}

function add(cost: { -readonly [name in keyof StoreCost]: number }, { checks, writes }: Commit): void {
  cost.commits += 1;
  cost.checks += checks.length;
  cost.writes += writes.length;
  for (const write of writes) cost.bytes += write.kind === "set" ? sizeOf(write.value) : 0;
}

function sizeOf(value: unknown): number {
  return JSON.stringify(
    value,
    (_name, member) => member instanceof Uint8Array ? "x".repeat(member.length) : member,
  )
    .length;
}
