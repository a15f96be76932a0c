/** The identity of a database, and the rules for which program may open which database. No I/O. */
import type { Key } from "./store.ts";

/** Key of the identity. The entry is never deleted. */
export const storeIdentityKey: Key = ["store_identity"];

export interface Owner {
  /** `data-keys` is the platform's data key store. */
  readonly program: "platform" | "directory" | "data-keys";
  /** Its public address, which is part of stored values: PLATFORM_AUTH_URL or DIRECTORY_ISSUER. */
  readonly issuer: string;
}

/** The stored identity. Copies have the identity of their original. */
export interface StoreIdentity extends Owner {
  readonly id: string;
  /**
   * Version of the stored values' format. Increased by a version of the program whose values older ones cannot read.
   */
  readonly schema: number;
  /** The database whose entries `deno task store copy` is writing into this one. */
  readonly copyingFrom?: string;
  /** The database that has taken over the entries of this one. */
  readonly movedTo?: string;
}

/** The content of `<path>.id`: the database that was in use here, and its newest commit. */
export interface LastSeen {
  readonly id: string;
  readonly version: number;
}

/** The facts about a database before it is used. */
export interface Found {
  /** Undefined in a new database, and in one written by a version that stored no identity. */
  readonly identity: StoreIdentity | undefined;
  /**
   * Whether it is marked as a restored copy. A copy may be older than the last seen commit, because its program
   * handles that.
   */
  readonly isCopy: boolean;
  readonly version: number;
  readonly lastSeen: LastSeen | undefined;
}

const SCHEMA = 1;

/**
 * Makes the identity of a database that has none.
 *
 * @param id the known id of the database, if any
 */
export function newIdentity({ program, issuer }: Owner, id: string = crypto.randomUUID()): StoreIdentity {
  return { id, program, issuer, schema: SCHEMA };
}

/** Returns why this owner may not use the database and what to do, or undefined if it may. */
export function whyNot(path: string, owner: Owner, found: Found): string | undefined {
  return wrongOwner(path, owner, found.identity) ?? wrongPlace(path, found.identity) ??
    wrongPast(path, found);
}

function wrongPlace(path: string, identity: StoreIdentity | undefined): string | undefined {
  if (identity?.copyingFrom !== undefined) {
    return `The database ${path} is an unfinished copy of ${identity.copyingFrom}. Repeat deno task store copy.`;
  }
  if (identity?.movedTo !== undefined) {
    return `The entries of the database ${path} were moved to ${identity.movedTo}. Name that one, or take this one into use again with deno task store assign.`;
  }
  return undefined;
}

function wrongOwner(path: string, owner: Owner, identity: StoreIdentity | undefined): string | undefined {
  if (identity === undefined) return undefined;
  const { program, issuer, schema } = identity;
  if (program !== owner.program) {
    return `The database ${path} belongs to a ${program}, not to a ${owner.program}. Name another database.`;
  }
  if (schema > SCHEMA) {
    return `The database ${path} was written by a newer version of the ${program}. Run that version, or restore a backup from before the upgrade.`;
  }
  if (issuer !== owner.issuer) {
    return `The database ${path} belongs to the ${program} at ${issuer}, not to the one at ${owner.issuer}. Name another database, or assign it with deno task store assign.`;
  }
  return undefined;
}

function wrongPast(path: string, { identity, isCopy, version, lastSeen }: Found): string | undefined {
  if (lastSeen === undefined) return undefined;
  if (identity?.id !== lastSeen.id && !(identity === undefined && isCopy)) {
    return `The database ${path} is not the one that was in use here (${path}.id names that one). Put that one back, or delete ${path}.id to use this one.`;
  }
  if (version < lastSeen.version && !isCopy) {
    return `The database ${path} lacks commits that it had: it is an older copy, or ${path}-wal was lost. Restore a backup, or mark it as a copy with deno task store restored.`;
  }
  return undefined;
}
