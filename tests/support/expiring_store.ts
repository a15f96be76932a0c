/** A store that deletes expired entries by a test's clock, as the database does by the computer's. */
import { openTestStore } from "testing/test_store.ts";
import type { Key, Store } from "../../src/base/store/store.ts";

/** An in-memory store. */
export interface ExpiringStore extends Store {
  /** Deletes every entry that has expired at `now` (ms). */
  deleteExpired(now: number): Promise<void>;
}

export async function openExpiringStore(): Promise<ExpiringStore> {
  const store = await openTestStore();
  const expiries = new Map<string, { readonly key: Key; readonly at: number }>();
  return {
    ...store,
    async commit(staged) {
      const isDone = await store.commit(staged);
      for (const write of isDone ? staged.writes : []) {
        const expiresAt = write.kind === "set" ? write.expiresAt : undefined;
        if (expiresAt === undefined) expiries.delete(write.key.join("\n"));
        else expiries.set(write.key.join("\n"), { key: write.key, at: expiresAt });
      }
      return isDone;
    },
    async deleteExpired(now) {
      for (const { key } of [...expiries.values()].filter(({ at }) => at <= now)) {
        await store.commit({ checks: [], writes: [{ kind: "delete", key }] });
        expiries.delete(key.join("\n"));
      }
    },
  };
}
