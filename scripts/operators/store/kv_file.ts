/** A Deno KV file for `deno task store`. Deno KV does not tell when an entry expires, so SQLite reads the entries. */
import { DatabaseSync } from "node:sqlite";
import { deserialize } from "node:v8";
import { inspect } from "../../../src/base/store/database_file.ts";
import { DENO_KV_FILES, expiryIn } from "../../../src/base/store/deno_kv.ts";
import type { FileEngine } from "../../../src/base/store/file_engine.ts";
import { isUrl } from "../../../src/base/store/store_url.ts";
import { decodeKey } from "../../../src/base/store/postgres/key_codec.ts";
import type { Store } from "../../../src/base/store/store.ts";
import type { Database, StoredEntry } from "./database.ts";

/**
 * Of one commit. Deno KV takes 1,000 entries, 800 KiB of values and 80 KiB of keys. It stores characters outside
 * Latin-1 in two bytes, and a short fraction of 4 characters in 9.
 */
const MAX_ENTRIES = 500;
const MAX_CHARACTERS = 262_144;
const MAX_KEY_BYTES = 65_536;

/** `v_encoding` of a value of JavaScript. The others are counters and bytes, which the platform does not store. */
const SERIALIZED = 1;
/** Type byte of a text in a key. */
const TEXT = 2;
const BEFORE_ALL = new Uint8Array();
const AFTER_ALL = Uint8Array.of(0xff);

/** How `deno task store` reads the files of an engine. */
export interface FileForm {
  readonly engine: FileEngine;
  /** Selects the entries after a key and until another one, at most so many. */
  readonly page: string;
  /** Counts the entries as `count`. */
  readonly counting: string;
  /** A key as the engine stores it. */
  keyOf(key: string): Uint8Array;
  entryOf(row: Record<string, unknown>): StoredEntry;
}

const DENO_KV: FileForm = {
  engine: DENO_KV_FILES,
  page: "select k, v, v_encoding, expiration_ms from kv where k > ? and k <= ? order by k limit ?",
  counting: "select count(*) as count from kv",
  keyOf: kvKey,
  entryOf: asEntry,
};

/** @throws {Error} in one sentence if it is damaged, of another program, missing, or in use */
export const openKvFile = (path: string, mayBeNew: "new" | "existing"): Promise<Database> =>
  openFile(path, mayBeNew, DENO_KV);

/** @throws {Error} in one sentence if it is damaged, of another program, missing, or in use */
export async function openFile(
  path: string,
  mayBeNew: "new" | "existing",
  { engine, page: query, counting, keyOf, entryOf }: FileForm,
): Promise<Database> {
  if (mayBeNew === "existing" || isUrl(path)) await rejectMissing(path);
  const store = await engine.open(path, {
    isAsStored: true,
    beforeOpening: async () => void await inspect(engine, path, undefined),
  });
  const database = new DatabaseSync(path, { readOnly: true });
  const page = database.prepare(query);
  return {
    name: path,
    store,
    read({ after, until }, limit) {
      const start = after === undefined ? BEFORE_ALL : keyOf(after);
      const end = until === undefined ? AFTER_ALL : keyOf(until);
      return Promise.resolve(page.all(start, end, limit).map(entryOf));
    },
    count: () => Promise.resolve(Number(database.prepare(counting).get()?.["count"])),
    write: (entries) => writeBatches(store, path, entries),
    rejectInUse: () => Promise.resolve(), // the engine has locked it
    async [Symbol.asyncDispose]() {
      database.close();
      // While it is locked: afterwards it may be the lock of a program that has started.
      await Deno.remove(`${path}.lock`);
      await store.close();
    },
  };
}

/** @throws {Error} in one sentence */
export async function rejectMissing(path: string): Promise<void> {
  if (isUrl(path)) throw new Error("The command takes the path of a database file here, not a URL.");
  const found = await Deno.stat(path).catch(() => undefined);
  if (found?.isFile !== true) throw new Error(`${path} is not a file.`);
}

function asEntry(row: Record<string, unknown>): StoredEntry {
  const { k, v, v_encoding: encoding, expiration_ms: expiry } = row;
  const key = storedKey(k);
  if (encoding !== SERIALIZED || !(v instanceof Uint8Array)) {
    throw new Error("The file contains a value that no platform has written.");
  }
  return { key, json: JSON.stringify(deserialize(v)), expiresAt: expiryIn(Number(expiry)) };
}

/** Writes entries in commits that Deno KV takes. @throws {Error} in one sentence that names the records */
async function writeBatches(store: Store, path: string, entries: readonly StoredEntry[]): Promise<void> {
  await Promise.all(batchesOf(entries).map((batch) => writeBatch(store, path, batch)));
}

async function writeBatch(store: Store, path: string, batch: readonly StoredEntry[]): Promise<void> {
  const writes = batch.map(({ key, json, expiresAt }) => {
    const write = { kind: "set", key: decodeKey(key), value: JSON.parse(json) as unknown } as const;
    return expiresAt === undefined ? write : { ...write, expiresAt };
  });
  try {
    await store.commit({ checks: [], writes });
  } catch (error) {
    const names = new Set(writes.map(({ key }) => key[0]));
    throw new Error(`${path} does not take records of ${[...names].join(", ")}: ${String(error)}`);
  }
}

function batchesOf(entries: readonly StoredEntry[]): StoredEntry[][] {
  const batches: StoredEntry[][] = [];
  let batch: StoredEntry[] = [];
  let [characters, keyBytes] = [Infinity, 0];
  for (const entry of entries) {
    characters += entry.json.length;
    keyBytes += entry.key.length / 2;
    if (batch.length === MAX_ENTRIES || characters > MAX_CHARACTERS || keyBytes > MAX_KEY_BYTES) {
      batches.push(batch = []);
      [characters, keyBytes] = [entry.json.length, entry.key.length / 2];
    }
    batch.push(entry);
  }
  return batches;
}

/** Deno KV writes a type byte, the UTF-8 bytes with 00 FF for 00, and 00. Without the type bytes it is our encoding. */
function storedKey(bytes: unknown): string {
  if (!(bytes instanceof Uint8Array)) throw new Error("The file contains a key that is not bytes.");
  let hex = "\\x";
  let start = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, end + 1)) {
    if (bytes[end + 1] === 0xff) continue;
    if (bytes[start] !== TEXT) throw new Error("The file contains a key that no platform has written.");
    hex += bytes.subarray(start + 1, end + 1).toHex();
    start = end + 1;
  }
  return hex;
}

function kvKey(key: string): Uint8Array {
  const bytes = Uint8Array.fromHex(key.slice(2));
  const typed: number[] = [];
  let isStart = true;
  for (const [index, byte] of bytes.entries()) {
    if (isStart) typed.push(TEXT);
    typed.push(byte);
    isStart = byte === 0 && bytes[index + 1] !== 0xff;
  }
  return Uint8Array.from(typed);
}
