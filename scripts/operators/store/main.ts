/**
 * `deno task store`: backs databases of the platform or the directory up, marks them as restored, assigns them to
 * another address, moves their entries to another database, and applies PostgreSQL's schema.
 */
import { secretEnvironment } from "../../command_line/secret_environment.ts";
import { instantOf } from "../../../src/base/kernel/date_time.ts";
import { openConnections, UNHURRIED } from "../../../src/base/store/postgres/connections.ts";
import { migrate } from "../../../src/base/store/postgres/schema.ts";
import {
  isPostgresUrl,
  readPostgresUrl,
  withoutPassword,
} from "../../../src/base/store/postgres/settings.ts";
import { missingOptions, optionsOf, runProgram, unknownCommand, UsageError } from "../../command_line/run.ts";
import { copyStore } from "./copy.ts";
import { assign, mark, markRestored } from "./marks.ts";
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import { wireDateTime } from "../../../src/base/kernel/clock.ts";
import { isSqlitePath } from "../../../src/base/store/store_url.ts";
import { rejectMissing } from "./kv_file.ts";

const USAGE =
  `A database is the path of a Deno KV file, of a SQLite file (its name ends with .sqlite), or a URL, postgres://…. The default is
  PLATFORM_STORE_URL, or the line in the file that PLATFORM_STORE_URL_FILE names.

deno task store backup --to FILE [--from FILE]
  Copies a database file while the platform or the directory runs, with mode 600.
deno task store restored [--at DATABASE] --taken-at TIME
  Marks a database that was restored by other means (a disk snapshot, sqlite3, PostgreSQL's point-in-time recovery).
  TIME is when the copy was taken, with an offset: an earlier time is safe, a later one is not.
deno task store assign [--at DATABASE] --issuer URL
  Gives a database to the platform with this PLATFORM_AUTH_URL, or to the directory with this DIRECTORY_ISSUER.
deno task store copy [--from DATABASE] [--to DATABASE]
  Moves all entries of a database that no program uses to a new file or an empty PostgreSQL database, and compares
  both. If it was interrupted, repeat it.
deno task store migrate [--at URL]
  Brings the schema of a PostgreSQL database up to date. It needs the role that owns the schema, or may create it.`;

const VERBS = ["backup", "restored", "assign", "copy", "migrate"];

/** Runs one command line and returns what it prints. @throws {UsageError} and errors in one sentence */
export async function storeCommand(
  args: readonly string[],
  { storeUrl, now }: { readonly storeUrl: string | undefined; readonly now: number },
): Promise<string> {
  const [verb, ...rest] = args;
  if (verb === "backup") {
    const { from = storeUrl, to } = optionsOf(rest, ["from", "to"]);
    if (from === undefined || to === undefined) throw missingOptions(from === undefined ? "from" : "to");
    return await backup(from, to, now);
  }
  if (verb === "restored") {
    const { at = storeUrl, "taken-at": time } = optionsOf(rest, ["at", "taken-at"]);
    if (at === undefined || time === undefined) throw missingOptions(at === undefined ? "at" : "taken-at");
    return await markRestored(at, takenAt(time));
  }
  if (verb === "assign") {
    const { at = storeUrl, issuer } = optionsOf(rest, ["at", "issuer"]);
    if (at === undefined || issuer === undefined) throw missingOptions(at === undefined ? "at" : "issuer");
    if (URL.parse(issuer) === null) throw new UsageError("--issuer must be a URL.");
    return await assign(at, issuer);
  }
  if (verb === "copy") {
    const { from = storeUrl, to = storeUrl } = optionsOf(rest, ["from", "to"]);
    if (from === undefined || to === undefined || from === to) {
      throw new UsageError(
        "--from and --to must be two databases; one of them may be left out for the platform's own.",
      );
    }
    return await copyStore(from, to);
  }
  if (verb === "migrate") {
    const at = optionsOf(rest, ["at"]).at ?? storeUrl;
    if (at === undefined || !isPostgresUrl(at)) throw new UsageError("--at must be a URL, postgres://…");
    return await migratePostgres(at);
  }
  throw verb === undefined ? new UsageError(USAGE) : unknownCommand(verb, VERBS);
}

async function migratePostgres(url: string): Promise<string> {
  const connections = await openConnections(readPostgresUrl(url), UNHURRIED);
  try {
    const applied = await migrate(connections);
    const name = withoutPassword(url);
    return applied.length === 0 ? `${name} is up to date.` : `${name}: applied ${applied.join(", ")}.`;
  } finally {
    await connections.close();
  }
}

function takenAt(text: string): number {
  const time = instantOf(text);
  if (time === undefined) throw new UsageError("--taken-at must be a date-time such as 2026-01-31T12:00:00Z");
  return time;
}

/**
 * Every copy has the mark of a restored copy: the platform that opens it begins a new epoch, and the directory stops
 * publishing.
 *
 * @param now the time of the copy, milliseconds
 * @returns what was done
 * @throws {Error} in one sentence
 */
export async function backup(from: string, to: string, now: number): Promise<string> {
  await rejectMissing(from);
  if (isSqlitePath(from) !== isSqlitePath(to)) { // the name would name the wrong engine
    throw new Error(`${to} cannot be made: the copy of a SQLite file, and no other one, ends with .sqlite.`);
  }
  const partial = `${to}.partial`;
  if (await Deno.stat(to).catch(() => undefined) !== undefined) {
    throw new Error(`${to} cannot be made: it exists.`);
  }
  await makeNew(partial);
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    await copyDatabase(database, partial);
  } catch (error) {
    await Deno.remove(partial); // on a full disk a program needs its space
    throw error;
  } finally {
    database.close();
  }
  rejectDamaged(partial, from);
  await mark(partial, now);
  await Deno.rename(partial, to); // under its name only with its mark
  return `${to} holds every commit up to ${wireDateTime(now)}.`;
}

/** A program reads a large file through at its backup, not at each of its starts. */
function rejectDamaged(path: string, original: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  const [found] = database.prepare("pragma quick_check(1)").all();
  database.close();
  if (found?.["quick_check"] !== "ok") {
    throw new Error(
      `The database ${original} is damaged (${found?.["quick_check"]}); ${path} shows how. Restore a backup.`,
    );
  }
}

async function makeNew(path: string): Promise<void> {
  await Deno.open(path, { createNew: true, write: true, mode: 0o600 }).then(
    (file) => file.close(),
    (error: Error) => {
      throw new Error(`${path} cannot be made: ${error.message}`);
    },
  );
}

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) => {
    const { PLATFORM_STORE_URL: storeUrl } = await secretEnvironment(["PLATFORM_STORE_URL"]);
    print(await storeCommand(args, { storeUrl, now: Date.now() }));
  });
}
