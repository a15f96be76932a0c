/**
 * The storage port: the operations that the platform needs of a database. Versions are opaque and change with every
 * write of a key. `commit` is atomic.
 */
import type { WallTime } from "../kernel/clock.ts";

/** Key parts from the general to the particular. `docs/storage.md` lists the records of all keys. */
export type Key = readonly string[];

/** A stored value and its version, which a commit can check. */
export interface Entry<T> {
  readonly key: Key;
  readonly value: T;
  readonly version: string;
}

/**
 * One write of a commit. The database may delete the entry after `expiresAt` (milliseconds). Validity must not depend
 * on it.
 */
export type Write =
  | {
    readonly kind: "set";
    readonly key: Key;
    readonly value: unknown;
    readonly expiresAt?: WallTime;
    readonly join?: Join;
  }
  | { readonly kind: "delete"; readonly key: Key };

/**
 * Returns the write that stands for several. A store may use it for writes with the same function that happen in one
 * transaction, because a row costs more than what is in it. The reader must know both forms.
 */
export type Join = (rows: readonly Entry<unknown>[]) => readonly Write[];

/** Requires that the key still has this version, or, if null, that the key does not exist. */
export interface Check {
  readonly key: Key;
  readonly version: string | null;
}

/** All writes of a commit happen if every check holds. Otherwise none happens. */
export interface Commit {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/** Selects entries below `prefix` in key order, after the key `after` if it is set. */
export interface Listing {
  readonly prefix: Key;
  readonly after?: Key;
  readonly limit: number;
}

/** Reads single entries: the store itself, the reads of a request, or a transaction. */
export interface Reader {
  /** Returns the entry, or null. */
  get<T>(key: Key): Promise<Entry<T> | null>;
}

/**
 * The database failed for a reason outside the program: a full disk, an I/O error, a lock of another process. A
 * failed commit has not written anything that this process can see.
 */
export class StoreFailure extends Error {
  override readonly name = "StoreFailure";

  constructor(message: string, readonly scope: FailureScope = "database") {
    super(message);
  }
}

/**
 * What else a failure is about. After that of one statement (a deadlock, its time limit) or of one connection, others are
 * tried as before; after that of the database they are not.
 */
export type FailureScope = "statement" | "connection" | "database";

/**
 * A store of small values with atomic commits. Every method except `close` throws {@link StoreFailure}. An entry
 * whose `expiresAt` has passed may or may not be returned.
 */
export interface Store extends Reader {
  /** Returns the newest committed value, or null (strongly consistent). */
  get<T>(key: Key): Promise<Entry<T> | null>;
  /** Like `get`, in one round trip and one snapshot, in the order of the keys. */
  getMany<T>(keys: readonly Key[]): Promise<(Entry<T> | null)[]>;
  /** Returns at most `limit` entries, in key order. */
  list<T>(listing: Listing): Promise<Entry<T>[]>;
  /**
   * Returns true if all was written, and false if a check failed and no write happened. A conflict is not an error.
   */
  commit(commit: Commit): Promise<boolean>;
  /** Whether a commit that has returned is on two machines: it waits for a standby. Absent for a file. */
  readonly waitsForStandby?: () => Promise<boolean>;
  /** Releases the database. */
  close(): Promise<void>;
}
