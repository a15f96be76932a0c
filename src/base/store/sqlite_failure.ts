/** Failures of SQLite, which Deno KV and `node:sqlite` report by the same messages, and the wait for its lock. */
import { monotonicClock } from "../kernel/clock.ts";
import { StoreFailure } from "./store.ts";

/** Longest wait for the lock of another process. SQLite itself uses the same time if Deno KV commits without checks. */
export const MAX_LOCK_WAIT_MS = 5000;
export const LOCK_RETRY_MS = 50;
/** Longest wait for a turn. Longer than {@link MAX_LOCK_WAIT_MS}, because commits before it may wait for the lock. */
export const MAX_COMMIT_WAIT_MS = 6000;
export const LOCKED = "database is locked";

/** The messages of SQLite (`sqlite3_errstr`) for a database that cannot be used now. */
const FAILURES: ReadonlySet<string> = new Set([
  "access permission denied",
  "attempt to write a readonly database",
  "database disk image is malformed",
  LOCKED,
  "database or disk is full",
  "database table is locked",
  "disk I/O error",
  "file is not a database",
  "locking protocol",
  "out of memory",
  "unable to open database file",
]);

/** Whether the message of an error of SQLite is about the database, and not about a bug of the program. */
export function isSqliteFailure(message: string): boolean {
  return FAILURES.has(message);
}

/** Repeats an attempt that the lock of another process has stopped. No other failure is repeated. */
export async function untilUnlocked<T>(attempt: () => T | Promise<T>): Promise<T> {
  const lastTry = monotonicClock() + MAX_LOCK_WAIT_MS;
  while (true) {
    try {
      return await attempt();
    } catch (error) {
      const isLocked = error instanceof StoreFailure && error.message === LOCKED;
      if (!isLocked || monotonicClock() >= lastTry) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
  }
}
