/** Checks the identity of an opened database, and assigns one to a new database. */
import { storeCopyKey } from "./copy_mark.ts";
import type { Store } from "./store.ts";
import {
  type LastSeen,
  newIdentity,
  type Owner,
  type StoreIdentity,
  storeIdentityKey,
  whyNot,
} from "./store_identity.ts";

export interface Candidate {
  /** Its name in messages. */
  readonly path: string;
  readonly owner: Owner;
  /** Number of its newest commit, or 0 if that is not compared. */
  readonly version: number;
  readonly lastSeen: LastSeen | undefined;
}

/**
 * Checks that the database may be used and returns its id.
 *
 * @throws {Error} in one sentence, if it may not
 */
export async function identify(store: Store, candidate: Candidate): Promise<string> {
  const { path, owner, version, lastSeen } = candidate;
  const [entry, mark] = await store.getMany<StoreIdentity>([storeIdentityKey, storeCopyKey]);
  const why = whyNot(path, owner, { identity: entry?.value, isCopy: mark !== null, version, lastSeen });
  if (why !== undefined) throw new Error(why);
  if (entry) return entry.value.id;
  const value = newIdentity(owner, lastSeen?.id);
  const checks = [{ key: storeIdentityKey, version: null }];
  const isFirst = await store.commit({ checks, writes: [{ kind: "set", key: storeIdentityKey, value }] });
  return isFirst ? value.id : await identify(store, candidate); // another process was first
}
