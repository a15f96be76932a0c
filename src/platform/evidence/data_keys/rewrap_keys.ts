/**
 * Wraps every data key again with the newest wrapping key, so that an older one can be taken out of `PLATFORM_WRAPPING_KEYS`.
 * With it, wrapped keys of erased cases in old backups of the data key store become unreadable too.
 */
import { piecesBelow } from "../../../base/store/page.ts";
import type { Store, Write } from "../../../base/store/store.ts";
import type { Log } from "../../observed/log_events.ts";
import { dataKeyCheckRecord, dataKeyRecord, type StoredDataKey } from "./data_key_records.ts";
import type { WrappingKeys } from "./wrapping_keys.ts";

export interface RewrapKeysDeps {
  /** The data key store. */
  readonly vault: Store;
  readonly wrapping: WrappingKeys;
  readonly log: Log;
}

/** Keys of a pass. The next one starts a second later. */
const PIECE = 200;

/**
 * Returns a job that handles a page of keys while several wrapping keys are known. It begins again after each change of
 * the newest one, and logs when it has seen all.
 */
export function openRewrapping({ vault, wrapping, log }: RewrapKeysDeps): () => Promise<number> {
  let scanning: string | undefined;
  let isDone = false;
  let after: readonly string[] | undefined;
  return async () => {
    const { newestId, known } = wrapping;
    if (scanning !== newestId) [scanning, isDone, after] = [newestId, false, undefined];
    if (isDone || known === 1) return 0;
    const start = after === undefined ? {} : { after };
    const page = await vault.list<unknown>({ prefix: [dataKeyRecord.name], ...start, limit: PIECE });
    let changed = 0;
    for (const { key, value, version } of page.map(dataKeyRecord.decode)) {
      if (await rewrap({ vault, wrapping }, key, key[1] ?? "", value, version)) changed++;
    }
    after = page.at(-1)?.key;
    if (page.length === PIECE) return changed;
    const checkKey = [dataKeyCheckRecord.name];
    const check = await dataKeyCheckRecord.get(vault, checkKey);
    if (check !== null) await rewrap({ vault, wrapping }, checkKey, "check", check.value, check.version);
    isDone = true;
    log.info("data_keys.rewrapped", { wrappedBy: newestId });
    return changed;
  };
}

/** Returns one of these wrapping keys that still wraps a stored key, or undefined. */
export async function findUsedWrapping(
  vault: Store,
  ids: ReadonlySet<string>,
): Promise<string | undefined> {
  const check = await dataKeyCheckRecord.get(vault, [dataKeyCheckRecord.name]);
  const usedBy = (keys: readonly StoredDataKey[]): string | undefined =>
    keys.flatMap((key) => "wrappedBy" in key && ids.has(key.wrappedBy) ? [key.wrappedBy] : [])[0];
  const used = check === null ? undefined : usedBy([check.value]);
  if (used !== undefined) return used;
  for await (const piece of piecesBelow(vault, [dataKeyRecord.name], PIECE)) {
    const used = usedBy(piece.map((entry) => dataKeyRecord.decode(entry).value));
    if (used !== undefined) return used;
  }
  return undefined;
}

/** Returns false if no key was left. A key that another process has changed meanwhile stays as that one left it. */
async function rewrap(
  { vault, wrapping }: Pick<RewrapKeysDeps, "vault" | "wrapping">,
  key: readonly string[],
  name: string,
  former: StoredDataKey,
  version: string,
): Promise<boolean> {
  if (!("wrappedBy" in former) || former.wrappedBy === wrapping.newestId) return false;
  const raw = await wrapping.unwrap(name, former);
  const writes: Write[] = [];
  const record = key[0] === dataKeyRecord.name ? dataKeyRecord : dataKeyCheckRecord;
  record.set({ writes }, key, await wrapping.wrap(name, raw));
  return await vault.commit({ checks: [{ key, version }], writes });
}
