/** Opens a PostgreSQL database for its owner. Rejects one with an unknown schema or of another program. */
import { identify } from "../identify.ts";
import { spreadSpentJwts } from "../spent_jwts.ts";
import { type Store, StoreFailure } from "../store.ts";
import type { Owner } from "../store_identity.ts";
import { type Connections, openConnections } from "./connections.ts";
import { openPostgresStore } from "./postgres_store.ts";
import { schemaFault } from "./schema.ts";
import { readPostgresUrl, withoutPassword } from "./settings.ts";

/** @throws {Error} in one sentence that names the fault and the next step */
export async function openPostgres(url: string, owner: Owner): Promise<Store> {
  const name = withoutPassword(url);
  const connections = await openConnections(readPostgresUrl(url));
  try {
    return await openFor(connections, name, owner);
  } catch (error) {
    await connections.close();
    if (error instanceof StoreFailure) {
      throw new Error(`The database ${name} cannot be used: ${error.message}.`);
    }
    throw error;
  }
}

async function openFor(connections: Connections, name: string, owner: Owner): Promise<Store> {
  const fault = await schemaFault(connections);
  if (fault !== undefined) throw new Error(`The database ${name} cannot be used: ${fault}.`);
  const store = openPostgresStore(connections);
  await identify(store, { path: name, owner, version: 0, lastSeen: undefined });
  await spreadSpentJwts(store);
  return store;
}
