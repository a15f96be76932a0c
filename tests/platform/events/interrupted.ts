/** Faults and races at the moment of a commit. */
import type { Store } from "../../../src/base/store/store.ts";

/**
 * Calls `act` before each commit that writes a record, until the function that it returns is called. What `act` throws
 * is the failure of the commit.
 */
export function beforeCommit(store: Store, record: string, act: () => void | Promise<void>): () => void {
  const { commit } = store;
  Object.assign(store, {
    async commit(staged: Parameters<typeof commit>[0]): Promise<boolean> {
      if (staged.writes.some(({ key }) => key[0] === record)) await act();
      return await commit(staged);
    },
  });
  return () => void Object.assign(store, { commit });
}
