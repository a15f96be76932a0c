/** Whose database it is, and since when: which programs may open which databases. No I/O. */
import type { Key } from "./store.ts";

/** Where the identity is kept. Kept. */
export const storeIdentityKey: Key = ["store_identity"];

/** The program that a database belongs to. */
export interface Owner {
  readonly program: "platform" | "directory";
  /** Its public address, which is a part of what it stores: AUTH_URL or DIRECTORY_ISSUER. */
  readonly issuer: string;
}

/** What a database says about itself. Copies have the identity of their original. */
export interface StoreIdentity extends Owner {
  readonly id: string;
  /** Of the stored values. A version that changes them so that older ones cannot read them counts it up. */
  readonly schema: number;
}

/** What `<path>.id` says: which database was here, and the newest commit that it had. */
export interface LastSeen {
  readonly id: string;
  readonly version: number;
}

/** What is known of a database before it may be used. */
export interface Found {
  /** Undefined in a new database, and in one of a version that wrote none. */
  readonly identity: StoreIdentity | undefined;
  /** Marked as a restored copy: it is older than what was here, and its program knows. */
  readonly isCopy: boolean;
  /** Its newest commit. */
  readonly version: number;
  readonly lastSeen: LastSeen | undefined;
}

const SCHEMA = 1;

/** The identity of a database that has none. @param id that it is known by already */
export function newIdentity({ program, issuer }: Owner, id: string = crypto.randomUUID()): StoreIdentity {
  return { id, program, issuer, schema: SCHEMA };
}

/** Why this owner may not use the database that was found, and what to do; undefined if it may. */
export function whyNot(path: string, owner: Owner, found: Found): string | undefined {
  return wrongOwner(path, owner, found.identity) ?? wrongPast(path, found);
}

function wrongOwner(path: string, owner: Owner, identity: StoreIdentity | undefined): string | undefined {
  if (identity === undefined) return undefined;
  const { program, issuer, schema } = identity;
  if (program !== owner.program) {
    return `The database ${path} belongs to a ${program}, not to a ${owner.program}. Name another file.`;
  }
  if (schema > SCHEMA) {
    return `The database ${path} was written by a newer version of the ${program}. Run that version, or restore a backup from before the upgrade.`;
  }
  if (issuer !== owner.issuer) {
    return `The database ${path} belongs to the ${program} at ${issuer}, not to the one at ${owner.issuer}. Name another file, or assign it with deno task store assign.`;
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
