/**
 * `scripts/testing/on_postgres.ts ARGUMENTS…`: runs Deno with these arguments. Tests open their stores (`test_store.ts`)
 * on a PostgreSQL server that ends with it. A deadlock is a failure: the server ends it after a second, and requests that
 * wait for it get 503.
 */
import { FAST, migrated, openPostgresServer } from "./postgres_server.ts";

/** @returns the exit status of Deno, or 1 if commits have waited for each other in a circle */
async function onPostgres(args: readonly string[]): Promise<number> {
  await using server = await openPostgresServer({ ...FAST, max_connections: "500" });
  const template = await migrated(await server.newDatabase());
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { TEST_STORE: template },
    stdin: "null",
  })
    .spawn();
  const { code } = await child.status;
  const deadlocks = await server.deadlocks();
  if (deadlocks > 0) {
    const words = `FAILED: ${deadlocks} deadlocks on PostgreSQL\n`;
    await Deno.stderr.write(new TextEncoder().encode(words));
  }
  return deadlocks > 0 ? 1 : code;
}

if (import.meta.main) Deno.exit(await onPostgres(Deno.args));
