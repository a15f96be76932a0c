/** A PostgreSQL database for `deno task store`. */
import {
  type Connections,
  openConnections,
  SERVING,
  UNHURRIED,
} from "../../../src/base/store/postgres/connections.ts";
import { arrayOf, openPostgresStore, timeOf } from "../../../src/base/store/postgres/postgres_store.ts";
import { schemaFault } from "../../../src/base/store/postgres/schema.ts";
import { readPostgresUrl, withoutPassword } from "../../../src/base/store/postgres/settings.ts";
import type { Database, Range, StoredEntry } from "./database.ts";

const AFTER_ALL = "\\xff";

/** @throws {Error} in one sentence if it cannot be used, has another schema, or is in use */
export async function openPostgresDatabase(url: string): Promise<Database> {
  const name = withoutPassword(url);
  const connections = await openConnections(readPostgresUrl(url), UNHURRIED);
  try {
    const fault = await schemaFault(connections);
    if (fault !== undefined) throw new Error(`The database ${name} cannot be used: ${fault}.`);
    await rejectInUse(connections, name);
  } catch (error) {
    await connections.close();
    throw error;
  }
  return {
    name,
    store: openPostgresStore(connections),
    read: (range, limit) => read(connections, range, limit),
    count: () => count(connections),
    write: (entries) => write(connections, entries),
    rejectInUse: () => rejectInUse(connections, name),
    [Symbol.asyncDispose]: () => connections.close(),
  };
}

async function rejectInUse(connections: Connections, name: string): Promise<void> {
  const sessions = await connections.run((sql) =>
    sql`select from pg_stat_activity
      where datname = current_database() and application_name = ${SERVING.application}`
  );
  if (sessions.length === 0) return;
  throw new Error(
    `The database ${name} is in use by ${sessions.length} connections; stop the processes first.`,
  );
}

async function count(connections: Connections): Promise<number> {
  const rows = await connections.run((sql) =>
    sql<{ count: string }[]>`select count(*) as count from hub.entry`
  );
  return Number(rows[0]?.count);
}

async function read(
  connections: Connections,
  { after = "\\x", until = AFTER_ALL }: Range,
  limit: number,
): Promise<readonly StoredEntry[]> {
  const rows = await connections.run((sql) =>
    sql<{ key: string; json: string; expiry: string | null }[]>`
      select key, value::text as json, (extract(epoch from expires_at) * 1000)::bigint as expiry from hub.entry
        where key > ${after}::bytea and key <= ${until}::bytea order by key limit ${limit}`
  );
  return rows.map(({ key, json, expiry }) => ({
    key,
    json,
    expiresAt: expiry === null ? undefined : Number(expiry),
  }));
}

async function write(connections: Connections, entries: readonly StoredEntry[]): Promise<void> {
  const keys = arrayOf(entries.map(({ key }) => key));
  const values = arrayOf(entries.map(({ json }) => json));
  const expiries = arrayOf(
    entries.map(({ expiresAt }) => expiresAt === undefined ? null : timeOf(expiresAt)),
  );
  await connections.run((sql) =>
    sql`insert into hub.entry (key, value, version, expires_at)
      select written.key, written.value, ${crypto.randomUUID()}::uuid, written.expires_at
        from unnest(${keys}::bytea[], ${values}::json[], ${expiries}::timestamptz[])
          as written (key, value, expires_at)
      on conflict (key) do update
        set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at`
  );
}
