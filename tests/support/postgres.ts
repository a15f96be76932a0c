/** A PostgreSQL server for the tests of the file that imports this. A computer without PostgreSQL skips them. */
import { openConnections } from "../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../src/base/store/postgres/settings.ts";
import type { Store } from "../../src/base/store/store.ts";
import { postgresPrograms } from "testing/postgres_node.ts";
import { migrated, openPostgresServer, type PostgresServer } from "testing/postgres_server.ts";

const server = postgresPrograms() === undefined ? undefined : await openPostgresServer();

if (server === undefined) {
  const words = "\n*** SKIPPED: nothing was checked on PostgreSQL, version 15 or newer is missing ***\n\n";
  Deno.stdout.writeSync(new TextEncoder().encode(words));
} else {
  Deno.test.afterAll(() => server[Symbol.asyncDispose]());
}

/** Whether this computer lacks PostgreSQL, for the `ignore` of a test. */
export const isPostgresMissing = server === undefined;

/** Registers a test that needs PostgreSQL. */
export function test(name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  Deno.test({ name, ignore: isPostgresMissing, fn });
}

/** The server of this test file. */
export function postgresServer(): PostgresServer {
  if (server === undefined) throw new Error("PostgreSQL is missing");
  return server;
}

/** Makes an empty database with the schema. Returns its URL. */
export async function newPostgresDatabase(): Promise<string> {
  return await migrated(await postgresServer().newDatabase());
}

/** Opens a store on a database of its own. */
export async function newPostgresStore(): Promise<Store> {
  return openPostgresStore(await openConnections(readPostgresUrl(await newPostgresDatabase())));
}
