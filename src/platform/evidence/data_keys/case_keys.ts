/**
 * The data keys of cases, in a store of their own (Decision P3). A deleted key makes what it sealed unreadable in the
 * platform's store and in every backup of it. Each process remembers keys for a minute at most, so that an erasure
 * counts everywhere within a minute.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { MonotonicClock, WallTime } from "../../../base/kernel/clock.ts";
import { type ConsentId, isUuid, newConsentId, paymentIdFrom } from "../../../base/kernel/identifiers.ts";
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import type { GuardedStore } from "../../../base/store/guarded_store.ts";
import type { Check, Entry, Key, Write } from "../../../base/store/store.ts";
import { dataKeyRecord, type StoredDataKey } from "./data_key_records.ts";
import type { Erased } from "../personal_data.ts";
import { UnknownWrappingKey, type Wrapped, type WrappingKeys } from "./wrapping_keys.ts";
import { digestBytes } from "../digest.ts";

export interface CaseKeys {
  /** Returns the id of a new consent, whose data key is stored already. */
  newConsentId(): Promise<ConsentId>;
  /** Takes back an id with which no consent was created, so that rejected requests add no keys. */
  takeBack(id: ConsentId): void;
  /**
   * Returns the key that seals a case. A case without one, such as one whose key was lost, gets one.
   *
   * @throws {CaseErased}
   * @throws {ApiError} `store.unavailable` if the data key store fails, or the key is wrapped by a key that this
   * process does not have
   */
  sealing(id: CaseId): Promise<CryptoKey>;
  /**
   * Returns the key that opens a case. It is "lost" if the data key store was restored from a copy that lacks it.
   *
   * @throws {ApiError} `store.unavailable` as {@link CaseKeys.sealing}
   * @throws {Error} if the data key store was never restored and has neither the key nor its tombstone
   */
  opening(id: CaseId): Promise<CryptoKey | Erased | "lost">;
  /** Whether the data key store was restored from a copy, so that it can lack keys. */
  readonly canLackKeys: boolean;
  /** Tells the watcher that the key of a case is lost, once for each case. */
  noteLost(id: CaseId): void;
  /** Whether the case was erased. */
  isErased(id: CaseId): Promise<boolean>;
  /** Deletes the key of a case for ever. Repeating it has no effect. `at` is in milliseconds. */
  erase(id: CaseId, at: WallTime): Promise<void>;
  /** Tells the watcher what happens from now on. There is one watcher. */
  watch(watcher: KeyWatcher): void;
  /** The data key store and the wrapping keys, for the job that wraps again. */
  readonly stored: Pick<CaseKeysDeps, "vault" | "wrapping">;
}

/** Is told what an operator must know of the data keys. */
export interface KeyWatcher {
  /** The key of a case is lost. */
  lost(id: CaseId): void;
  /** A data key is wrapped by a key that this process does not have. Called once for each such key. */
  unknownWrapping(wrappedBy: string): void;
  /** The data key store begins to fail. */
  failing(why: string): void;
  /** The data key store works again. */
  working(failedSeconds: number): void;
}

/** Sealed data of an erased case was to be written. */
export class CaseErased extends Error {
  override readonly name = "CaseErased";
}

export interface CaseKeysDeps {
  /** The data key store. */
  readonly vault: GuardedStore;
  readonly wrapping: WrappingKeys;
  /** A monotonic clock in milliseconds. */
  readonly monotonic: MonotonicClock;
  /** Whether the data key store was restored from a copy, which can lack keys. */
  readonly canLackKeys: boolean;
  /** Consents whose keys one commit stores. After a crash, as many keys without a consent remain. */
  readonly keysAtOnce: number;
  /** Tells the watcher of {@link CaseKeys.watch}. */
  readonly watcher: { current: KeyWatcher };
}

/** A token has few sessions, and signs meanwhile. */
const BATCH = 4;
/**
 * Ids that are older than this are not used. The search for cases whose retention period has passed goes through ids in
 * their order, and must not have passed a new one. No period is shorter than a day.
 */
const UNUSED_MS = 43_200_000;
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 5000;
/** A reload of this process takes a person. */
const RETRY_AFTER_SECONDS = 60;

type Found = CryptoKey | Erased | "missing";

interface Remembered {
  readonly found: Promise<Found>;
  readonly until: number;
}

export const dataKeyKey = (id: CaseId): Key => [dataKeyRecord.name, id];

export function openCaseKeys(deps: CaseKeysDeps): CaseKeys {
  const { canLackKeys, watcher } = deps;
  const memory = openKeyMemory(deps.monotonic);
  const read = openReads(deps);
  const find = (id: CaseId): Promise<Found> => memory.recall(id) ?? memory.remember(id, read(id));
  const noteLost = onceForEach((id) => watcher.current.lost(id));
  const ids = openIds(deps.monotonic, async () => {
    const made = await makeBlock(deps);
    for (const { caseId, key } of made) void memory.remember(caseId, Promise.resolve(key));
    return made.map(({ id }) => id);
  });
  return {
    stored: deps,
    canLackKeys,
    noteLost,
    newConsentId: ids.next,
    takeBack: ids.takeBack,
    watch: (given) => void (watcher.current = given),
    isErased: async (id) => isErasure(await find(id)),
    async sealing(id) {
      let found = await find(id);
      if (found === "missing") {
        const [made] = await makeKeys(deps, [id]) ?? [];
        found = await memory.remember(id, made === undefined ? read(id) : Promise.resolve(made)); // or another was first
      }
      return sealingKey(id, found);
    },
    async opening(id) {
      const found = await find(id);
      if (found !== "missing") return found;
      if (!canLackKeys) throw new Error(`the key of the case ${id} is missing. ${MISSING}`);
      noteLost(id);
      return "lost";
    },
    async erase(id, at) {
      void memory.remember(id, Promise.resolve(await eraseKey(deps, id, at)));
    },
  };
}

/** Returns a function that reads the key of a case. */
function openReads(deps: CaseKeysDeps): (id: CaseId) => Promise<Found> {
  const noteUnknown = onceForEach((wrappedBy) => deps.watcher.current.unknownWrapping(wrappedBy));
  return async (id) => {
    const entry = await dataKeyRecord.get(deps.vault, dataKeyKey(id));
    try {
      return await foundIn(deps, id, entry);
    } catch (error) {
      if (!(error instanceof UnknownWrappingKey)) throw error;
      noteUnknown(error.wrappedBy);
      throw new ApiError("store.unavailable", {
        detail: error.message,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  };
}

function sealingKey(id: CaseId, found: Found): CryptoKey {
  if (isErasure(found)) throw new CaseErased("the case was erased; no personal data may be added to it");
  if (found === "missing") throw new Error(`the key of the case ${id} was deleted meanwhile`);
  return found;
}

/** Returns a function that reports each id once. */
function onceForEach(report: (id: string) => void): (id: string) => void {
  const told = openRecentlyUsed<true>(MAX_REMEMBERED);
  return (id) => {
    if (told.get(id) === undefined) report(id);
    told.set(id, true);
  };
}

/** Returns the erasure, which may have happened before. */
async function eraseKey({ vault }: CaseKeysDeps, id: CaseId, erasedAt: WallTime): Promise<Erased> {
  const before = (await dataKeyRecord.get(vault, dataKeyKey(id)))?.value;
  if (before !== undefined && "erasedAt" in before) return erasureAt(before.erasedAt);
  const writes: Write[] = [];
  dataKeyRecord.set({ writes }, dataKeyKey(id), { erasedAt });
  await vault.commit({ checks: [], writes });
  return erasureAt(erasedAt);
}

function erasureAt(at: WallTime): Erased {
  return { state: "erased", at, scope: "key" };
}

function isErasure(found: Found): found is Erased {
  return typeof found === "object" && "state" in found;
}

const MISSING =
  "If the data key store was restored from a copy without a mark, such as a disk snapshot, stop the platform and mark it: " +
  "deno task store restored (docs/operations/data-keys.md).";

interface KeyMemory {
  recall(id: CaseId): Promise<Found> | undefined;
  /** Missing keys and failures are not remembered. Returns `found`. */
  remember(id: CaseId, found: Promise<Found>): Promise<Found>;
}

function openKeyMemory(monotonic: MonotonicClock): KeyMemory {
  const remembered = openRecentlyUsed<Remembered>(MAX_REMEMBERED);
  return {
    recall(id) {
      const before = remembered.get(id);
      return before !== undefined && monotonic() < before.until ? before.found : undefined;
    },
    remember(id, found) {
      const entry = { found, until: monotonic() + REMEMBERED_MS };
      remembered.set(id, entry);
      const forget = (): void => void (remembered.peek(id) === entry && remembered.delete(id));
      found.then((key) => key === "missing" && forget(), forget);
      return found;
    },
  };
}

/** Hands out ids one by one, and makes a block of them when none is left. Those of an earlier block are not taken back. */
function openIds(
  monotonic: MonotonicClock,
  makeIds: () => Promise<readonly ConsentId[]>,
): { readonly next: CaseKeys["newConsentId"]; readonly takeBack: CaseKeys["takeBack"] } {
  let block: ReadonlySet<ConsentId> = new Set();
  let unused: ConsentId[] = [];
  let madeAt = monotonic();
  let filling: Promise<unknown> | undefined;
  const fill = async (): Promise<void> => {
    const beganAt = monotonic();
    block = new Set(await makeIds());
    [unused, madeAt] = [[...block], beganAt];
  };
  return {
    async next() {
      for (;;) {
        const id = monotonic() - madeAt < UNUSED_MS ? unused.pop() : undefined;
        if (id !== undefined) return id;
        await (filling ??= fill().finally(() => filling = undefined));
      }
    },
    takeBack: (id) => void (block.has(id) && unused.push(id)),
  };
}

async function foundIn(
  { wrapping }: CaseKeysDeps,
  id: CaseId,
  entry: Entry<StoredDataKey> | null,
): Promise<Found> {
  if (entry === null) return "missing";
  if ("erasedAt" in entry.value) return erasureAt(entry.value.erasedAt);
  return await importKey(await wrapping.unwrap(id, entry.value));
}

async function makeBlock(
  deps: CaseKeysDeps,
): Promise<readonly { readonly id: ConsentId; readonly caseId: CaseId; readonly key: CryptoKey }[]> {
  const ids = Array.from({ length: deps.keysAtOnce }, newConsentId);
  const cases = ids.map((id) => caseIdOf(id) ?? id);
  const keys = await makeKeys(deps, cases);
  if (keys === undefined) throw new Error("a new random id is in use already");
  return ids.flatMap((id, index) => {
    const [caseId, key] = [cases[index], keys[index]];
    return caseId === undefined || key === undefined ? [] : [{ id, caseId, key }];
  });
}

/** Stores new keys of cases in one commit. Returns undefined, and has stored none, if one has a key already. */
async function makeKeys(
  { vault, wrapping }: CaseKeysDeps,
  ids: readonly CaseId[],
): Promise<readonly CryptoKey[] | undefined> {
  const raw = ids.map(() => crypto.getRandomValues(new Uint8Array(32)));
  const wrapped: Wrapped[] = [];
  for (let start = 0; start < ids.length; start += BATCH) {
    const group = ids.slice(start, start + BATCH);
    wrapped.push(
      ...await Promise.all(group.map((id, at) => wrapping.wrap(id, raw[start + at] ?? new Uint8Array()))),
    );
  }
  const writes: Write[] = [];
  for (const [index, id] of ids.entries()) {
    const key = wrapped[index];
    if (key !== undefined) dataKeyRecord.set({ writes }, dataKeyKey(id), key);
  }
  const checks = ids.map((id): Check => ({ key: dataKeyKey(id), version: null }));
  if (!await vault.commit({ checks, writes })) return undefined;
  return await Promise.all(raw.map(importKey));
}

async function importKey(raw: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]);
}

// Which case a consent or a payment belongs to: one data key seals both.

/** The id of a consent's payment (Decision G9), whether or not the payment exists. */
export type CaseId = string;

/** The position of a UUID's version, and the version of derived payment ids. */
const VERSION_AT = 14;
const DERIVED = "8";
/** Of the consents that requests work on. */
const known = openRecentlyUsed<CaseId>(MAX_REMEMBERED);

/** Returns the case of a consent's or a payment's id, or undefined if the text is not an id. */
export function caseIdOf(id: string): CaseId | undefined {
  if (!isUuid(id)) return undefined;
  if (id[VERSION_AT] === DERIVED) return id;
  const before = known.get(id);
  if (before !== undefined) return before;
  const caseId = paymentIdFrom(id as ConsentId, digestBytes);
  known.set(id, caseId);
  return caseId;
}
