/** A `.sqlite` file for `deno task store`. */
import { SQLITE_FILES } from "../../../src/base/store/sqlite_store.ts";
import type { Database, StoredEntry } from "./database.ts";
import { type FileForm, openFile } from "./kv_file.ts";

const SQLITE: FileForm = {
  engine: SQLITE_FILES,
  page: "select key, value, expires from hub_entry where key > ? and key <= ? order by key limit ?",
  keyOf: (key) => Uint8Array.fromHex(key.slice(2)),
  entryOf: asEntry,
};

/** @throws {Error} in one sentence if it is damaged, of another program, missing, or in use */
export const openSqliteFile = (path: string, mayBeNew: "new" | "existing"): Promise<Database> =>
  openFile(path, mayBeNew, SQLITE);

function asEntry({ key, value, expires }: Record<string, unknown>): StoredEntry {
  if (!(key instanceof Uint8Array)) throw new Error("The file contains a key that is not bytes.");
  return {
    key: `\\x${key.toHex()}`,
    json: String(value),
    expiresAt: expires === null ? undefined : Number(expires),
  };
}
