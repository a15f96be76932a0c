/**
 * Detects the mark that `deno task store` leaves on a copy of the database. A restored directory may lack revocations,
 * so it publishes no data until an administrator has repeated them and confirms.
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { storeCopyKey } from "../../base/store/copy_mark.ts";
import type { Store } from "../../base/store/store.ts";
import { check, commitIfUnchanged, remove } from "../../base/store/transaction.ts";
import { OPEN_PROPOSALS } from "./proposal.ts";

/** Whether this database is a restored copy. */
export interface RestoredCopy {
  /** When the copy was taken, ms; undefined if this is not a copy, or if an administrator has confirmed it. */
  takenAt(): Promise<number | undefined>;
  /** Removes the mark. Proposals that are open can no longer be approved. */
  confirm(): Promise<void>;
}

/**
 * Reads the mark. A database is replaced only while the directory is stopped, so a directory that is no copy at the start
 * never becomes one. A mark is read again each time, because an administrator may have confirmed at another process.
 */
export async function openRestoredCopy(store: Store, clock: Clock): Promise<RestoredCopy> {
  const read = async () => await store.get<{ readonly takenAt: number }>(storeCopyKey);
  let mark = await read();
  return {
    async takenAt(): Promise<number | undefined> {
      if (mark !== null) mark = await read();
      return mark?.value.takenAt;
    },
    async confirm(): Promise<void> {
      if (mark === null) return;
      const { version } = mark;
      await commitIfUnchanged({ store, clock }, (tx) => { // false: another request has confirmed it
        check(tx, storeCopyKey, version);
        remove(tx, storeCopyKey);
        remove(tx, OPEN_PROPOSALS); // as its record declares
      });
      mark = null;
    },
  };
}
