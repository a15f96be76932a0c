/**
 * The stores of tests: in memory, or on PostgreSQL if `TEST_STORE` names a server's migrated database, of which each
 * store gets a copy (`on_postgres.ts`).
 */
import postgres from "postgres";
import { openDenoKv } from "../../src/base/store/deno_kv.ts";
import { openConnections } from "../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../src/base/store/postgres/settings.ts";
import type { Store } from "../../src/base/store/store.ts";
import { isKept } from "../../src/platform/process/measured_parts.ts";

const VARIABLE = "TEST_STORE";
/** Enough for a race, and few enough for many test files at once on one server. */
const CONNECTIONS = 4;

/** Copies that are empty again. To empty one costs a tenth of making one. */
const empty: string[] = [];

/** Opens an empty store, which the test or its block closes. */
export async function openTestStore(): Promise<Store & AsyncDisposable> {
  const store = await openEmptyStore();
  return { ...store, [Symbol.asyncDispose]: store.close };
}

async function openEmptyStore(): Promise<Store> {
  const template = testTemplate();
  if (template === undefined) return await openDenoKv(":memory:", { keeps: isKept });
  const url = empty.pop() ?? await newTestDatabase(template);
  const connections = await openConnections(readPostgresUrl(`${url}&connections=${CONNECTIONS}`));
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await connections.run((sql) => sql`delete from hub.entry`);
    await connections.close();
    empty.push(url);
  };
  return { ...openPostgresStore(connections), close: () => closing ??= close() };
}

/** Returns the migrated database to copy, or undefined if tests are to use Deno KV. */
export function testTemplate(): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: VARIABLE });
  return state === "granted" ? Deno.env.get(VARIABLE) : undefined;
}

/** Copies the template. Returns the URL of the copy. */
export async function newTestDatabase(template: string): Promise<string> {
  const { hosts: [address = ""], user, database } = readPostgresUrl(template);
  const [host = "", port] = address.split(":");
  const sql = postgres({
    host,
    port: Number(port),
    username: user,
    database: "postgres",
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });
  try {
    const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
    await sql.unsafe(`create database ${name} template ${database} strategy file_copy`);
    return template.replace(`/${database}?`, `/${name}?`);
  } finally {
    await sql.end();
  }
}
