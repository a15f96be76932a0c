/**
 * Implements the storage port on PostgreSQL: one table, and one function call a commit (`migrations/0001_entry.sql`).
 *
 * A commit knows itself: its id is the version of the entries that it writes. If the connection is lost before the
 * answer, the commit is repeated with its id, and the database tells a repetition from a conflict. So a commit is
 * reported as failed only if the database was away for longer than {@link MAX_UNKNOWN_RETRY_MS}. A read is repeated too:
 * no request fails because a connection was lost or the server did not answer for two seconds.
 */
import { hasCode } from "../../kernel/error_code.ts";
import { monotonicClock } from "../../kernel/clock.ts";
import { type Commit, type Entry, type Key, type Listing, type Store, StoreFailure } from "../store.ts";
import type { Connections, Sql } from "./connections.ts";
import { INSERTED_MEANWHILE, PostgresFailure } from "./failure.ts";
import { encodeKey } from "./key_codec.ts";
import { openSharedReads, readTogether } from "./shared_reads.ts";

/** Longest time in which a commit that has not been sent is tried again. */
const MAX_UNSENT_RETRY_MS = 3000;
/** Longest time in which a commit is repeated that may have happened. */
export const MAX_UNKNOWN_RETRY_MS = 10_000;
const RETRY_MS = 100;

/** Opens the store. The schema must be current (`schema.ts`). */
export function openPostgresStore(connections: Connections): Store {
  const expire = startExpiry(connections);
  const shared = openSharedReads((reads) => read(connections, (sql) => readTogether(sql, reads)));
  return {
    async get<T>(key: Key): Promise<Entry<T> | null> {
      const joined = shared.join(key);
      if (joined !== undefined) return ((await joined)[0] ?? null) as Entry<T> | null;
      const [row] = await read(
        connections,
        (sql) => sql<Row<T>[]>`select value, version from hub.entry where key = ${encodeKey(key)}::bytea`,
      );
      return row === undefined ? null : { key, value: row.value, version: row.version };
    },
    getMany: (keys) => getMany(connections, keys),
    list: async <T>(listing: Listing) => [...await shared.list(listing)] as Entry<T>[],
    async commit(staged) {
      const done = await commitPatiently(connections, staged);
      expire();
      return done;
    },
    waitsForStandby: () => waitsForStandby(connections),
    close: () => connections.close(),
  };
}

async function waitsForStandby(connections: Connections): Promise<boolean> {
  const [row] = await read(connections, (sql) =>
    sql<{ waits: boolean }[]>`
      select current_setting('synchronous_standby_names') <> ''
        and current_setting('synchronous_commit') not in ('off', 'local') as waits`);
  return row?.waits === true;
}

interface Row<T> {
  readonly value: T;
  readonly version: string;
}

interface KeyedRow<T> extends Row<T> {
  readonly key: string;
}

async function getMany<T>(connections: Connections, keys: readonly Key[]): Promise<(Entry<T> | null)[]> {
  if (keys.length === 0) return [];
  const asked = keys.map(encodeKey);
  const rows = await read(connections, (sql) =>
    sql<KeyedRow<T>[]>`
      select key, value, version from hub.entry where key = any (${arrayOf(asked)}::bytea[])`);
  const found = new Map(rows.map((row) => [row.key, row]));
  return keys.map((key, index) => {
    const row = found.get(asked[index] ?? "");
    return row === undefined ? null : { key, value: row.value, version: row.version };
  });
}

/**
 * Reads again after each lost connection, and once after another failure, unless it came late. While the database is
 * away, a read fails within 10 s.
 */
async function read<T>(connections: Connections, statement: (sql: Sql) => Promise<T>): Promise<T> {
  const startedAt = monotonicClock();
  for (let others = 0;; await pause()) {
    try {
      return await connections.run(statement);
    } catch (error) {
      if (!(error instanceof StoreFailure) || monotonicClock() - startedAt >= MAX_UNSENT_RETRY_MS) {
        throw error;
      }
      if (error.scope !== "connection" && others++ > 0) throw error;
    }
  }
}

async function commitPatiently(connections: Connections, staged: Commit): Promise<boolean> {
  const call = asCall(staged);
  const startedAt = monotonicClock();
  let mayHaveHappened = false;
  while (true) {
    const isRepetition = mayHaveHappened;
    try {
      return await connections.run((sql) => call(sql, isRepetition));
    } catch (error) {
      const passedMs = monotonicClock() - startedAt;
      if (!(error instanceof StoreFailure)) throw error;
      mayHaveHappened ||= error instanceof PostgresFailure && error.isOutcomeUnknown;
      const limit = mayHaveHappened ? MAX_UNKNOWN_RETRY_MS : MAX_UNSENT_RETRY_MS;
      if (passedMs + RETRY_MS >= limit) throw error;
      if (hasCode(error, INSERTED_MEANWHILE)) continue; // the next call finds the entry
    }
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

/** Gives the call of the commit function. All its repetitions have the same id. */
function asCall({ checks, writes }: Commit): (sql: Sql, isRepetition: boolean) => Promise<boolean> {
  const id = crypto.randomUUID();
  const sets = [...new Map(writes.map((write) => [encodeKey(write.key), write]))];
  const written = sets.flatMap(([key, write]) => write.kind === "set" ? [{ ...write, key }] : []);
  const deleted = sets.flatMap(([key, write]) => write.kind === "delete" ? [key] : []);
  const arrays = {
    checkKeys: arrayOf(checks.map(({ key }) => encodeKey(key))),
    checkVersions: arrayOf(checks.map(({ version }) => version)),
    keys: arrayOf(written.map(({ key }) => key)),
    values: arrayOf(written.map(({ value }) => JSON.stringify(value))),
    expiries: arrayOf(written.map(({ expiresAt }) => expiresAt === undefined ? null : timeOf(expiresAt))),
    deleted: arrayOf(deleted),
  };
  return async (sql, isRepetition) => {
    const [row] = await sql<{ done: boolean }[]>`
      select hub.commit_entries(${id}::uuid, ${isRepetition}::boolean, ${arrays.checkKeys}::bytea[],
        ${arrays.checkVersions}::uuid[], ${arrays.keys}::bytea[], ${arrays.values}::json[],
        ${arrays.expiries}::timestamptz[], ${arrays.deleted}::bytea[]) as done`;
    return row?.done === true;
  };
}

/** PostgreSQL's text form of an array. */
export function arrayOf(elements: readonly (string | null)[]): string {
  const quoted = elements.map((element) =>
    element === null ? "null" : `"${element.replace(/["\\]/g, (character) => `\\${character}`)}"`
  );
  return `{${quoted.join(",")}}`;
}

/** The last time that both sides can write, instead of a failure, for one that is later. */
const LAST_TIME_MS = Date.UTC(9999, 11, 31);

/** PostgreSQL's text form of a time in milliseconds. */
export function timeOf(milliseconds: number): string {
  return new Date(Math.min(Math.max(milliseconds, 0), LAST_TIME_MS)).toISOString();
}

// Deletes expired entries. Every process does it after its commits, so that a process needs no timer and an idle one does
// no work. Processes skip the rows that another one is deleting.

const EXPIRY_EVERY_MS = 1000;
/** Bounds a statement: about 40 ms of the database. */
const EXPIRED_ROWS = 1000;

/** Returns the function to call after each commit. It starts a deletion at most once a second and does not wait for it. */
export function startExpiry(connections: Connections): () => void {
  let nextAt = -Infinity;
  let isRunning = false;
  return () => {
    if (isRunning || monotonicClock() < nextAt) return;
    isRunning = true;
    void deleteExpired(connections).finally(() => {
      nextAt = monotonicClock() + EXPIRY_EVERY_MS;
      isRunning = false;
    });
  };
}

/** Deletes until there are few. If it fails, the next deletion goes on; the commits report the failure. */
async function deleteExpired(connections: Connections): Promise<void> {
  try {
    let deleted = EXPIRED_ROWS;
    while (deleted === EXPIRED_ROWS) {
      deleted = await connections.run(async (sql) => {
        const done = await sql`
          delete from hub.entry where key in (
            select key from hub.entry where expires_at < now()
              order by expires_at limit ${EXPIRED_ROWS} for update skip locked)`;
        return done.count;
      });
    }
  } catch {
    // see above
  }
}
