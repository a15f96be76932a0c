/** Marks a database as a restored copy, and assigns it to a program. No program may have it open. */
import { wireDateTime } from "../../../src/base/kernel/clock.ts";
import { storeCopyKey } from "../../../src/base/store/copy_mark.ts";
import { type StoreIdentity, storeIdentityKey } from "../../../src/base/store/store_identity.ts";
import type { CopyMark } from "../../../src/platform/operations/recovery/hold.ts";
import { change } from "./open_database.ts";

/**
 * @param at the path of a database file, or `postgres://…`
 * @param time when the copy was taken, milliseconds
 * @returns what was done
 * @throws {Error} in one sentence
 */
export async function markRestored(at: string, time: number): Promise<string> {
  const name = await mark(at, time);
  return `${name} is marked as a copy of ${
    wireDateTime(time)
  }. The platform begins a new epoch when it starts.`;
}

/** Sets the mark. Returns the name of the database. */
export async function mark(at: string, time: number): Promise<string> {
  const value: CopyMark = { id: crypto.randomUUID(), takenAt: time };
  return await change(at, async ({ name, store }) => {
    await store.commit({ checks: [], writes: [{ kind: "set", key: storeCopyKey, value }] });
    return name;
  });
}

/**
 * Gives the database to the program at another address, also if its entries were moved.
 *
 * @param at the path of a database file, or `postgres://…`
 * @param issuer PLATFORM_AUTH_URL of the platform, or DIRECTORY_ISSUER
 * @returns what was done
 * @throws {Error} in one sentence
 */
export async function assign(at: string, issuer: string): Promise<string> {
  return await change(at, async ({ name, store }) => {
    const found = (await store.get<StoreIdentity>(storeIdentityKey))?.value;
    if (found === undefined) throw new Error(`${name} was never opened by a platform or a directory.`);
    if (found.copyingFrom !== undefined) {
      throw new Error(`${name} is an unfinished copy of ${found.copyingFrom}.`);
    }
    const { movedTo: _, ...identity } = found;
    const value: StoreIdentity = { ...identity, issuer };
    await store.commit({ checks: [], writes: [{ kind: "set", key: storeIdentityKey, value }] });
    return `${name} belongs to the ${found.program} at ${issuer}. It belonged to ${found.issuer}.`;
  });
}
