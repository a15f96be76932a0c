/** A database as `deno task store` works on it: no program has it open, and its entries are read with their expiry. */
import type { Store } from "../../../src/base/store/store.ts";

export interface StoredEntry {
  /** As `postgres/key_codec.ts` encodes it. The order of the texts is the order of the keys. */
  readonly key: string;
  /** `JSON.stringify` of the value. */
  readonly json: string;
  /** Milliseconds. */
  readonly expiresAt: number | undefined;
}

/** By default from the first key, and to the last. */
export interface Range {
  readonly after?: string | undefined;
  readonly until?: string | undefined;
}

export interface Database extends AsyncDisposable {
  /** For messages: the path, or the URL without its password. */
  readonly name: string;
  readonly store: Store;
  /** Returns at most `limit` entries in key order, after the key `after` and up to `until`. */
  read(range: Range, limit: number): Promise<readonly StoredEntry[]>;
  /** How many entries there are. */
  count(): Promise<number>;
  /** Writes entries, in place of those with their keys. */
  write(entries: readonly StoredEntry[]): Promise<void>;
  /** @throws {Error} in one sentence if a program has it open */
  rejectInUse(): Promise<void>;
}
