/** A store whose commits can be held back and released together, for real races without sleeping. */
import { openTestStore } from "testing/test_store.ts";
import type { Commit, Store } from "../../src/base/store/store.ts";

/** An in-memory store that can hold commits. */
export interface GatedStore extends Store {
  /**
   * Starts these requests, and holds their commits until each one waits with a commit or has ended without one. Then
   * releases these and all later ones. Commits of rate limits and of copies of the directory's documents are never held.
   */
  together<T>(requests: readonly (() => Promise<T>)[]): Promise<T[]>;
}

const NEVER_HELD: ReadonlySet<string | undefined> = new Set([
  "rate_bucket",
  "kept_copy",
  "kept_piece",
  "age_mark",
]);

/** Opens a store that holds no operation. */
export async function openGatedStore(): Promise<GatedStore> {
  const store = await openTestStore();
  let missing = 0;
  let line = Promise.withResolvers<void>();
  const arrive = (): void => {
    if (missing > 0 && --missing === 0) line.resolve();
  };
  return {
    ...store,
    async together(requests) {
      missing = requests.length;
      line = Promise.withResolvers<void>();
      return await Promise.all(requests.map((request) => request().finally(arrive)));
    },
    async commit(staged: Commit): Promise<boolean> {
      if (missing > 0 && staged.writes.some(({ key }) => !NEVER_HELD.has(key[0]))) {
        arrive();
        await line.promise;
      }
      return await store.commit(staged);
    },
  };
}
