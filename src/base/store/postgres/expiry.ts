/**
 * Deletes expired entries. Every process does it after its commits, so that a process needs no timer and an idle one
 * does no work. Processes skip the rows that another one is deleting.
 */
import { monotonicClock } from "../../kernel/clock.ts";
import type { Connections } from "./connections.ts";

const EVERY_MS = 1000;
/** Bounds a statement: about 40 ms of the database. */
const ROWS = 1000;

/** Returns the function to call after each commit. It starts a deletion at most once a second and does not wait for it. */
export function startExpiry(connections: Connections): () => void {
  let nextAt = -Infinity;
  let isRunning = false;
  return () => {
    if (isRunning || monotonicClock() < nextAt) return;
    isRunning = true;
    void deleteExpired(connections).finally(() => {
      nextAt = monotonicClock() + EVERY_MS;
      isRunning = false;
    });
  };
}

/** Deletes until there are few. If it fails, the next deletion goes on; the commits report the failure. */
async function deleteExpired(connections: Connections): Promise<void> {
  try {
    let deleted = ROWS;
    while (deleted === ROWS) {
      deleted = await connections.run(async (sql) => {
        const done = await sql`
          delete from hub.entry where key in (
            select key from hub.entry where expires_at < now()
              order by expires_at limit ${ROWS} for update skip locked)`;
        return done.count;
      });
    }
  } catch {
    // see above
  }
}
