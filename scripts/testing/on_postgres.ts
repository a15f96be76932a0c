/**
 * `scripts/testing/on_postgres.ts ARGUMENTS…`: runs Deno with these arguments. Tests open their stores (`test_store.ts`)
 * on a PostgreSQL server that ends with it. A deadlock is a failure: the server ends it after a second, and requests that
 * wait for it get 503.
 */
import postgres from "postgres";
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
  const deadlocks = await deadlocksOf(template);
  if (deadlocks > 0) {
    const words = `FAILED: ${deadlocks} deadlocks on PostgreSQL\n`;
    await Deno.stderr.write(new TextEncoder().encode(words));
  }
  return deadlocks > 0 ? 1 : code;
}

/** The number of deadlocks in all databases of the server. */
async function deadlocksOf(url: string): Promise<number> {
  const { port, username } = new URL(url);
  const sql = postgres({ host: "127.0.0.1", port: Number(port), username, database: "postgres", max: 1 });
  const [found] = await sql<
    { count: number }[]
  >`select sum(deadlocks)::integer as count from pg_stat_database`;
  await sql.end({ timeout: 1 });
  return found?.count ?? 0;
}

if (import.meta.main) Deno.exit(await onPostgres(Deno.args));
