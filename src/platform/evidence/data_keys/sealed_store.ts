/**
 * Opens the data key store beside the platform's store, and checks that they belong together. A lost or exchanged data
 * key store must stop the start: a new one would make everything that is sealed unreadable.
 */
import { z } from "zod";
import type { MonotonicClock } from "../../../base/kernel/clock.ts";
import { storeCopyKey } from "../../../base/store/copy_mark.ts";
import { defineRecord, text } from "../../../base/store/record.ts";
import { guardStore } from "../../../base/store/guarded_store.ts";
import type { Key, Store, Write } from "../../../base/store/store.ts";
import { type StoreIdentity, storeIdentityKey } from "../../../base/store/store_identity.ts";
import { type CaseKeys, type KeyWatcher, openCaseKeys } from "./case_keys.ts";
import { dataKeyCheckRecord, dataKeyRestoreRecord } from "./data_key_records.ts";
import { sealings } from "./sealings.ts";
import { sealStore } from "./sealing_store.ts";
import type { WrappingKeys } from "./wrapping_keys.ts";

/** In the platform's store: which data key store has the keys of its values. */
export const dataKeyStoreRecord = defineRecord<{ readonly id: string }>({
  name: "data_key_store",
  keyParts: [],
  what: "The id of the data key store that has the keys of this store's sealed values.",
  schema: z.looseObject({ id: text }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

export interface Sealed {
  /** The platform's store, which seals and opens values. Closing it closes both stores. */
  readonly store: Store;
  readonly caseKeys: CaseKeys;
}

export interface SealedParts {
  /** The platform's store as it is. */
  readonly store: Store;
  /** The data key store. */
  readonly vault: Store;
  readonly wrapping: WrappingKeys;
  /** A monotonic clock in milliseconds. */
  readonly monotonic: MonotonicClock;
  /** Consents whose keys one commit stores. */
  readonly keysAtOnce?: number;
}

const KEYS_AT_ONCE = 64;
const UNWATCHED: KeyWatcher = { lost() {}, unknownWrapping() {}, failing() {}, working() {} };
const linkKey: Key = [dataKeyStoreRecord.name];
const checkKey: Key = [dataKeyCheckRecord.name];
const restoreKey: Key = [dataKeyRestoreRecord.name];
const CHECK_NAME = "check";
const CHECK_BYTES = 32;

/**
 * Returns the store whose values are sealed.
 *
 * @throws {Error} in one sentence if the stores do not belong together, or the wrapping keys are others
 */
export async function openSealed(
  { store, vault, wrapping, monotonic, keysAtOnce = KEYS_AT_ONCE }: SealedParts,
): Promise<Sealed> {
  await rejectOtherStore(store, vault);
  await rejectOtherKeys(vault, wrapping);
  const canLackKeys = await takeIntoUse(vault);
  const watcher = { current: UNWATCHED };
  const guarded = guardStore(vault, {
    elapsed: monotonic,
    failing: (why) => watcher.current.failing(why),
    working: (failedSeconds) => watcher.current.working(failedSeconds),
  });
  const caseKeys = openCaseKeys({ vault: guarded, wrapping, monotonic, canLackKeys, keysAtOnce, watcher });
  const sealing = sealStore(store, caseKeys, sealings, monotonic);
  const close = async (): Promise<void> => {
    await store.close();
    await vault.close();
  };
  return { store: { ...sealing, close }, caseKeys };
}

/** @throws {Error} in one sentence if values of the store are sealed */
export async function rejectSealedStore(store: Store): Promise<void> {
  if (await dataKeyStoreRecord.get(store, linkKey) === null) return;
  throw new Error(
    "The database has sealed values. Set PLATFORM_WRAPPING_KEYS, without which they cannot be read.",
  );
}

async function rejectOtherStore(store: Store, vault: Store): Promise<void> {
  const identity = await vault.get<StoreIdentity>(storeIdentityKey);
  const id = identity?.value.id ?? "in memory";
  const linked = await dataKeyStoreRecord.get(store, linkKey);
  if (linked?.value.id === id) return;
  if (linked !== null) {
    throw new Error(
      "The data key store is not the one that has the keys of this database. Put the right one back, or restore a backup of it (PLATFORM_DATA_KEYS_STORE).",
    );
  }
  const writes: Write[] = [];
  dataKeyStoreRecord.set({ writes }, linkKey, { id });
  if (await store.commit({ checks: [{ key: linkKey, version: null }], writes })) return;
  await rejectOtherStore(store, vault); // another process was first
}

/**
 * A backup of the data key store has a mark, with which a still older copy would not be noticed at the next start. It
 * is exchanged for a record of the restore. Returns whether the data key store was ever restored.
 */
async function takeIntoUse(vault: Store): Promise<boolean> {
  const mark = await vault.get<{ readonly takenAt: number }>(storeCopyKey);
  if (mark === null) return await dataKeyRestoreRecord.get(vault, restoreKey) !== null;
  const writes: Write[] = [{ kind: "delete", key: storeCopyKey }];
  dataKeyRestoreRecord.set({ writes }, restoreKey, { takenAt: mark.value.takenAt });
  await vault.commit({ checks: [{ key: storeCopyKey, version: mark.version }], writes });
  return true; // if another process was first, it has done the same
}

async function rejectOtherKeys(vault: Store, wrapping: WrappingKeys): Promise<void> {
  const check = await dataKeyCheckRecord.get(vault, checkKey);
  if (check !== null) {
    await wrapping.unwrap(CHECK_NAME, check.value).catch((error: Error) => {
      throw new Error(
        `PLATFORM_WRAPPING_KEYS does not have the keys of the data key store: ${error.message}.`,
      );
    });
    return;
  }
  const writes: Write[] = [];
  const value = await wrapping.wrap(CHECK_NAME, crypto.getRandomValues(new Uint8Array(CHECK_BYTES)));
  dataKeyCheckRecord.set({ writes }, checkKey, value);
  if (await vault.commit({ checks: [{ key: checkKey, version: null }], writes })) return;
  await rejectOtherKeys(vault, wrapping); // another process was first
}
