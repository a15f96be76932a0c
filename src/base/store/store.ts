/**
 * The storage port: the little that the platform asks of a database. Versions are opaque and change with
 * every write of a key; `commit` is all or nothing.
 */

/** Parts from the general to the particular; `platform/store_keys.ts` holds every shape in use. */
export type Key = readonly string[];

/** A value as read, with the version to check it by. */
export interface Entry<T> {
  readonly key: Key;
  readonly value: T;
  readonly version: string;
}

/** One write of a commit. `expiresAt` (ms) lets the database forget the entry later; it is no truth about validity. */
export type Write =
  | { readonly kind: "set"; readonly key: Key; readonly value: unknown; readonly expiresAt?: number }
  | { readonly kind: "delete"; readonly key: Key };

/** "This key still has this version"; null: "this key does not exist". */
export interface Check {
  readonly key: Key;
  readonly version: string | null;
}

/** What a commit does: every check must hold, then every write happens, or nothing does. */
export interface Commit {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/** Which entries `list` gives: those below `prefix`, in key order, after `after` where given. */
export interface Listing {
  readonly prefix: Key;
  readonly after?: Key;
  readonly limit: number;
}

/** Whatever can be asked for an entry: the store itself, or what a request has read of it already. */
export interface Reader {
  /** The entry, or null. */
  get<T>(key: Key): Promise<Entry<T> | null>;
}

/**
 * The database did not do what it was asked, for a reason outside the program: a full disk, an I/O error, a lock of
 * another process. A commit that ended so has written nothing that this process can see.
 */
export class StoreFailure extends Error {
  override readonly name = "StoreFailure";
}

/** A store of small values with atomic commits. Every method but `close` throws {@link StoreFailure}. `expiresAt` passed means the entry may or may not be seen. */
export interface Store extends Reader {
  /** The entry, or null. Always the newest committed value (strong reads). */
  get<T>(key: Key): Promise<Entry<T> | null>;
  /** As `get`, in one round trip and one snapshot, in the order asked. */
  getMany<T>(keys: readonly Key[]): Promise<(Entry<T> | null)[]>;
  /** At most `limit` entries, in key order. */
  list<T>(listing: Listing): Promise<Entry<T>[]>;
  /** True: everything was written. False: a check failed and nothing was. A conflict is not an error. */
  commit(commit: Commit): Promise<boolean>;
  /** Releases the database. What was committed is still there at the next opening. */
  close(): void;
}
