/** A store whose commits can be made to lose every race. */
import { openTestStore } from "testing/test_store.ts";
import type { Commit, Store } from "../../src/base/store/store.ts";

/** An in-memory store. */
export interface ConflictingStore extends Store {
  /** Makes every commit lose from now on, except those of rate limits. */
  conflicts: boolean;
  /** Number of commits that lost. */
  lost: number;
}

/** Opens a store without conflicts. */
export async function openConflictingStore(): Promise<ConflictingStore> {
  const store = await openTestStore();
  const conflicting: ConflictingStore = {
    ...store,
    conflicts: false,
    lost: 0,
    async commit(staged: Commit): Promise<boolean> {
      const counts = staged.writes.some(({ key }) => key[0] !== "rate_bucket");
      if (!conflicting.conflicts || !counts) return await store.commit(staged);
      conflicting.lost += 1;
      return false;
    },
  };
  return conflicting;
}
