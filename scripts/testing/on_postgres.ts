/**
 * `scripts/testing/on_postgres.ts ARGUMENTS…`: runs Deno with these arguments. Tests open their stores (`test_store.ts`)
 * on a PostgreSQL server that ends with it.
 */
import { FAST, migrated, openPostgresServer } from "./postgres_server.ts";

/** @returns the exit status of Deno */
async function onPostgres(args: readonly string[]): Promise<number> {
  await using server = await openPostgresServer({ ...FAST, max_connections: "500" });
  const template = await migrated(await server.newDatabase());
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { TEST_STORE: template },
    stdin: "null",
  })
    .spawn();
  return (await child.status).code;
}

if (import.meta.main) Deno.exit(await onPostgres(Deno.args));
