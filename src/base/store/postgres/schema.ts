/**
 * The schema's migrations, and which of them a program needs. A migration of an upgrade is applied before the first
 * process of the new version starts, so the old version must still run on it. `works_from` names the oldest version
 * of the schema whose programs do.
 */
import { hasCode } from "../../kernel/error_code.ts";
import entry from "./migrations/0001_entry.sql" with { type: "text" };
import kinds from "./migrations/0002_kinds.sql" with { type: "text" };
import reporting from "./migrations/0003_reporting.sql" with { type: "text" };
import type { Connections, Sql } from "./connections.ts";

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  /** The oldest schema number whose programs still run after it. */
  readonly worksFrom: number;
}

export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "entry", sql: entry, worksFrom: 1 },
  { number: 2, name: "kinds", sql: kinds, worksFrom: 1 },
  { number: 3, name: "reporting", sql: reporting, worksFrom: 1 },
];

/** The schema number that this program was written for. */
export const SCHEMA = MIGRATIONS.length;

interface Applied {
  readonly number: number;
  readonly worksFrom: number;
}

/** Returns why this program may not use the database and what to do, or undefined if it may. */
export async function schemaFault(connections: Connections): Promise<string | undefined> {
  const applied = await connections.run(newest);
  if (applied === undefined) return "the database has no schema; run deno task store migrate";
  const { number, worksFrom } = applied;
  if (number < SCHEMA) {
    return `the database has schema ${number} and this program needs ${SCHEMA}; run deno task store migrate`;
  }
  if (worksFrom <= SCHEMA) return undefined;
  return `the database has schema ${number}, which programs for schema ${worksFrom} and later can use, and this one is for ${SCHEMA}; run a newer version`;
}

/**
 * Applies the missing migrations, each in a transaction. Two runs at once wait for each other.
 *
 * @returns the names of those applied
 */
export async function migrate(connections: Connections): Promise<readonly string[]> {
  await connections.run(prepareMigrations).catch((error) => {
    if (!wasMadeMeanwhile(error)) throw error; // the other run has made all of it, in one transaction
  });
  const applied: string[] = [];
  for (const migration of MIGRATIONS) {
    if (await connections.run((sql) => apply(sql, migration))) applied.push(migration.name);
  }
  return applied;
}

async function newest(sql: Sql): Promise<Applied | undefined> {
  const [{ exists } = { exists: false }] = await sql<{ exists: boolean }[]>`
    select to_regclass('hub.migration') is not null as exists`;
  if (!exists) return undefined;
  const [found] = await sql<Applied[]>`
    select number, works_from as "worksFrom" from hub.migration order by number desc limit 1`;
  return found;
}

async function prepareMigrations(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create schema if not exists hub;
    create table if not exists hub.migration (
      number integer primary key,
      name text not null,
      works_from integer not null,
      applied_at timestamptz not null default now()
    )`);
}

/** `if not exists` fails if another run makes the same thing at that moment. */
function wasMadeMeanwhile(error: unknown): boolean {
  return hasCode(error, UNIQUE_VIOLATION);
}

const UNIQUE_VIOLATION = "23505";

async function apply(sql: Sql, { number, name, sql: text, worksFrom }: Migration): Promise<boolean> {
  return await sql.begin(async (tx) => {
    await tx`lock table hub.migration in exclusive mode`;
    const done = await tx`select from hub.migration where number = ${number}`;
    if (done.length > 0) return false;
    await tx.unsafe(text);
    await tx`insert into hub.migration (number, name, works_from) values (${number}, ${name}, ${worksFrom})`;
    return true;
  });
}
