/** Copies a database file while a program uses it. */
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import { wireDateTime } from "../../../src/base/kernel/clock.ts";
import { isSqlitePath } from "../../../src/base/store/store_url.ts";
import { rejectMissing } from "./kv_file.ts";
import { mark } from "./marks.ts";

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
