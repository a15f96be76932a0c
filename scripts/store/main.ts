/**
 * `deno task store`: takes backups of the database file of the platform or the directory while it runs, and marks a file
 * as a restored copy. Every copy has the mark: the platform then begins a new epoch, the directory stops publishing. It
 * also assigns a database to a program whose address has changed.
 */
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import { wireDateTime } from "../../src/base/kernel/clock.ts";
import { instantOf } from "../../src/base/kernel/date_time.ts";
import type { CopyMark } from "../../src/platform/recovery/hold.ts";
import { openDenoKv } from "../../src/base/store/deno_kv.ts";
import { storeCopyKey } from "../../src/base/store/copy_mark.ts";
import { openConnections, UNHURRIED } from "../../src/base/store/postgres/connections.ts";
import { migrate } from "../../src/base/store/postgres/schema.ts";
import { isPostgresUrl, readPostgresUrl, withoutPassword } from "../../src/base/store/postgres/settings.ts";
import type { Key, Store } from "../../src/base/store/store.ts";
import { type StoreIdentity, storeIdentityKey } from "../../src/base/store/store_identity.ts";
import { optionsOf, UsageError } from "../command_line/run.ts";

const USAGE = `deno task store backup --to FILE [--from FILE]
  Copies the database file (--from, or STORE_URL) while the platform or the directory runs, with mode 600.
deno task store restored --at FILE --taken-at TIME
  Marks a copy that was made by other means (a disk snapshot, sqlite3). TIME is when it was taken, with an offset: an
  earlier time is safe, a later one is not.
deno task store assign --at FILE --issuer URL
  Gives a database to the platform with this AUTH_URL, or to the directory with this DIRECTORY_ISSUER.
deno task store migrate [--at URL]
  Brings the schema of a PostgreSQL database (--at, or STORE_URL) up to date. It needs a role that may create a schema.`;

/** Runs one command line and returns what it prints. @throws {UsageError} and errors in one sentence */
export async function storeCommand(
  args: readonly string[],
  { storeUrl, now }: { readonly storeUrl: string | undefined; readonly now: number },
): Promise<string> {
  const [verb, ...rest] = args;
  if (verb === "backup") {
    const options = optionsOf(rest, ["from", "to"]);
    const from = options.from ?? storeUrl;
    const { to } = options;
    if (from === undefined || to === undefined) throw new UsageError(USAGE);
    return await backup(from, to, now);
  }
  if (verb === "restored") {
    const options = optionsOf(rest, ["at", "taken-at"]);
    const { at, "taken-at": time } = options;
    if (at === undefined || time === undefined) throw new UsageError(USAGE);
    return await restored(at, takenAt(time));
  }
  if (verb === "assign") {
    const options = optionsOf(rest, ["at", "issuer"]);
    const { at, issuer } = options;
    if (at === undefined || issuer === undefined || URL.parse(issuer) === null) throw new UsageError(USAGE);
    return await assign(at, issuer);
  }
  if (verb === "migrate") {
    const at = optionsOf(rest, ["at"]).at ?? storeUrl;
    if (at === undefined || !isPostgresUrl(at)) throw new UsageError(USAGE);
    return await migratePostgres(at);
  }
  throw new UsageError(USAGE);
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

async function backup(from: string, to: string, now: number): Promise<string> {
  await rejectMissing(from);
  const partial = `${to}.partial`;
  if (await Deno.stat(to).catch(() => undefined) !== undefined) {
    throw new Error(`${to} cannot be made: it exists.`);
  }
  await makeNew(partial);
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    await copyDatabase(database, partial);
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

async function restored(at: string, time: number): Promise<string> {
  await rejectMissing(at);
  await mark(at, time);
  return `${at} is marked as a copy of ${
    wireDateTime(time)
  }. The platform begins a new epoch when it starts.`;
}

function takenAt(text: string): number {
  const time = instantOf(text);
  if (time === undefined) throw new UsageError("--taken-at must be a date-time such as 2026-01-31T12:00:00Z");
  return time;
}

async function rejectMissing(path: string): Promise<void> {
  const found = await Deno.stat(path).catch(() => undefined);
  if (found?.isFile !== true) throw new Error(`${path} is not a file.`);
}

async function assign(at: string, issuer: string): Promise<string> {
  await rejectMissing(at);
  const found = await change(at, async (store) => {
    const identity = (await store.get<StoreIdentity>(storeIdentityKey))?.value;
    if (identity === undefined) throw new Error(`${at} was never opened by a platform or a directory.`);
    await write(store, storeIdentityKey, { ...identity, issuer });
    return identity;
  });
  return `${at} belongs to the ${found.program} at ${issuer}. It belonged to ${found.issuer}.`;
}

async function mark(path: string, time: number): Promise<void> {
  const value: CopyMark = { id: crypto.randomUUID(), takenAt: time };
  await change(path, (store) => write(store, storeCopyKey, value));
}

async function write(store: Store, key: Key, value: unknown): Promise<void> {
  await store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
}

/** Works on a database that no program has open. */
async function change<T>(path: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openDenoKv(path);
  try {
    return await work(store);
  } finally {
    await Deno.remove(`${path}.lock`); // while it is locked: afterwards it may be the lock of a program that has started
    store.close();
  }
}

if (import.meta.main) {
  const encoder = new TextEncoder();
  try {
    const said = await storeCommand(Deno.args, { storeUrl: Deno.env.get("STORE_URL"), now: Date.now() });
    Deno.stdout.writeSync(encoder.encode(`${said}\n`));
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(encoder.encode(`${words}\n`));
    Deno.exit(error instanceof UsageError ? 2 : 1);
  }
}
