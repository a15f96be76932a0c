/** A storage engine that keeps SQLite files, and the facts with which `database_file.ts` checks them. */
import type { Key, Store } from "./store.ts";

export interface OpeningHooks {
  /** Runs after the file is locked and before the database is opened. */
  beforeOpening?(): Promise<void>;
  /** Receives the number of each commit. A later commit has a higher number. */
  onCommitted?(version: number): void;
  /** Whether entries with this key may be kept in memory: small ones that many requests read. None is by default. */
  keeps?(key: Key): boolean;
  /** Entries are written as the file has them, for tools; not what `spent_jwts.ts` joins in memory. */
  readonly isAsStored?: boolean;
}

export interface FileEngine {
  /**
   * @param path a file path, or `:memory:`
   * @throws {Error} in one sentence if the database cannot be opened or another process has locked it
   */
  open(path: string, hooks?: OpeningHooks): Promise<Store>;
  /** The table that all its files have. */
  readonly schema: {
    readonly table: string;
    /** Gives the file's schema number as `n`. */
    readonly query: string;
    /** The newest number that this program knows. */
    readonly newest: number;
    /** Which program has a newer version if the number is higher. */
    readonly writer: string;
  };
  /** The table with the number of the newest commit, which the query gives as `n`. */
  readonly commits: { readonly table: string; readonly query: string };
}
