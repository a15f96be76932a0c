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
import { backup } from "./backup.ts";
import { copyStore } from "./copy.ts";
import { assign, markRestored } from "./marks.ts";

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

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) => {
    const { PLATFORM_STORE_URL: storeUrl } = await secretEnvironment(["PLATFORM_STORE_URL"]);
    print(await storeCommand(args, { storeUrl, now: Date.now() }));
  });
}
