/** A `.sqlite` file for `deno task store`. */
import { DatabaseSync } from "node:sqlite";
import { inspect } from "../../src/base/store/database_file.ts";
import { openSqliteStore, SQLITE_FILES } from "../../src/base/store/sqlite_store.ts";
import type { Database, StoredEntry } from "./database.ts";
import { rejectMissing, writeBatches } from "./kv_file.ts";

const BEFORE_ALL = new Uint8Array();
const AFTER_ALL = Uint8Array.of(0xff);

/** @throws {Error} in one sentence if it is damaged, of another program, missing, or in use */
export async function openSqliteFile(path: string, mayBeNew: "new" | "existing"): Promise<Database> {
  if (mayBeNew === "existing") await rejectMissing(path);
  const store = await openSqliteStore(path, {
    beforeOpening: async () => void await inspect(SQLITE_FILES, path, undefined),
  });
  const database = new DatabaseSync(path, { readOnly: true });
  const page = database.prepare(
    "select key, value, expires from hub_entry where key > ? and key <= ? order by key limit ?",
  );
  return {
    name: path,
    store,
    read({ after, until }, limit) {
      const range = [
        after === undefined ? BEFORE_ALL : bytesOf(after),
        until === undefined ? AFTER_ALL : bytesOf(until),
      ];
      return Promise.resolve(page.all(...range, limit).map(asEntry));
    },
    write: (entries) => writeBatches(store, path, entries),
    rejectInUse: () => Promise.resolve(), // openSqliteStore has locked it
    async [Symbol.asyncDispose]() {
      database.close();
      // While it is locked: afterwards it may be the lock of a program that has started.
      await Deno.remove(`${path}.lock`);
      await store.close();
    },
  };
}

function bytesOf(key: string): Uint8Array {
  return Uint8Array.fromHex(key.slice(2));
}

function asEntry({ key, value, expires }: Record<string, unknown>): StoredEntry {
  if (!(key instanceof Uint8Array)) throw new Error("The file contains a key that is not bytes.");
  return {
    key: `\\x${key.toHex()}`,
    json: String(value),
    expiresAt: expires === null ? undefined : Number(expires),
  };
}
