/** Examines a PostgreSQL database as a program would find it at its start: address, schema, owner, rights, clock. Only reads. */
import type { Clock } from "../../kernel/clock.ts";
import { type Owner, type StoreIdentity, storeIdentityKey, whyNot } from "../store_identity.ts";
import { openConnections, type Sql } from "./connections.ts";
import { openPostgresStore } from "./postgres_store.ts";
import { SCHEMA, schemaFault } from "./schema.ts";
import { readPostgresUrl, withoutPassword } from "./settings.ts";

/** @throws {Error} in one sentence, if the owner could not use the database */
export async function checkPostgres(
  url: string,
  owner: Owner,
  clock: Clock,
): Promise<{ readonly detail: string; readonly aheadMs: number }> {
  const name = withoutPassword(url);
  const connections = await openConnections(readPostgresUrl(url));
  try {
    const fault = await schemaFault(connections);
    if (fault !== undefined) throw new Error(`${name}: ${fault}`);
    const found = await openPostgresStore(connections).get<StoreIdentity>(storeIdentityKey);
    const identity = found?.value;
    const wrong = whyNot(name, owner, { identity, isCopy: false, version: 0, lastSeen: undefined });
    if (wrong !== undefined) throw new Error(wrong);
    const { mayWrite, aheadMs } = await connections.run((sql) => rightsAndTime(sql, clock));
    if (!mayWrite) throw new Error(`${name}: the role may not write hub.entry; it needs hub_process`);
    return { detail: `${name}, schema ${SCHEMA}`, aheadMs };
  } finally {
    await connections.close();
  }
}

async function rightsAndTime(
  sql: Sql,
  clock: Clock,
): Promise<{ readonly mayWrite: boolean; readonly aheadMs: number }> {
  const before = clock();
  const [row] = await sql<{ mayWrite: boolean; now: number }[]>`
    select has_table_privilege('hub.entry', 'insert') and has_table_privilege('hub.entry', 'update')
        and has_table_privilege('hub.entry', 'delete') as "mayWrite", -- a list of rights asks for any of them
      extract(epoch from clock_timestamp())::float8 * 1000 as now`;
  const middle = (before + clock()) / 2;
  return { mayWrite: row?.mayWrite ?? false, aheadMs: (row?.now ?? middle) - middle };
}
