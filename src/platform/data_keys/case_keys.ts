/**
 * The data keys of cases, in a store of their own (Decision P3). A deleted key makes what it sealed unreadable in the
 * platform's store and in every backup of it. Each process remembers keys for a minute at most, so that an erasure
 * counts everywhere within a minute.
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { type ConsentId, newConsentId } from "../../base/kernel/identifiers.ts";
import { openRecentlyUsed } from "../../base/kernel/recently_used.ts";
import type { Check, Entry, Key, Store, Write } from "../../base/store/store.ts";
import { type CaseId, caseIdOf } from "./case_id.ts";
import { dataKeyRecord, type StoredDataKey } from "./data_key_records.ts";
import type { WrappingKeys } from "./wrapping_keys.ts";

export interface CaseKeys {
  /** Returns the id of a new consent, whose data key is stored already. */
  newConsentId(): Promise<ConsentId>;
  /**
   * Returns the key that seals a case. A case of an earlier version has none and gets one.
   *
   * @throws {CaseErased}
   * @throws {StoreFailure} if the data key store fails
   */
  sealing(id: CaseId): Promise<CryptoKey>;
  /**
   * Returns the key that opens a case, or undefined if it was erased.
   *
   * @throws {Error} if the data key store has neither the key nor its tombstone
   */
  opening(id: CaseId): Promise<CryptoKey | undefined>;
  /** Deletes the key of a case for ever. Repeating it has no effect. `at` is in milliseconds. */
  erase(id: CaseId, at: number): Promise<void>;
  /** The data key store and the wrapping keys, for the job that wraps again. */
  readonly stored: Pick<CaseKeysDeps, "vault" | "wrapping">;
}

/** Sealed data of an erased case was to be written. */
export class CaseErased extends Error {
  override readonly name = "CaseErased";
}

export interface CaseKeysDeps {
  /** The data key store. */
  readonly vault: Store;
  readonly wrapping: WrappingKeys;
  /** A monotonic clock in milliseconds. */
  readonly monotonic: Clock;
}

/** Consents whose keys one commit stores. After a crash, as many keys without a consent remain. */
const BLOCK = 64;
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 5000;

type Found = CryptoKey | "erased" | "missing";

interface Remembered {
  readonly found: Promise<Found>;
  readonly until: number;
}

export const dataKeyKey = (id: CaseId): Key => [dataKeyRecord.name, id];

export function openCaseKeys(deps: CaseKeysDeps): CaseKeys {
  const { vault, monotonic } = deps;
  const memory = openKeyMemory(monotonic);
  const find = (id: CaseId): Promise<Found> =>
    memory.recall(id) ??
      memory.remember(id, dataKeyRecord.get(vault, dataKeyKey(id)).then((entry) => foundIn(deps, id, entry)));
  const nextId = openIds(async () => {
    const made = await makeBlock(deps);
    for (const { caseId, key } of made) void memory.remember(caseId, Promise.resolve(key));
    return made.map(({ id }) => id);
  });
  return {
    stored: deps,
    newConsentId: nextId,
    async sealing(id) {
      let found = await find(id);
      if (found === "missing") {
        await makeKeys(deps, [id]);
        found = await find(id); // another process may have been first
      }
      if (typeof found !== "string") return found;
      throw new CaseErased("the case was erased; no personal data may be added to it");
    },
    async opening(id) {
      const found = await find(id);
      if (found === "missing") throw new Error(`the data key store lacks the key of the case ${id}`);
      return found === "erased" ? undefined : found;
    },
    async erase(id, at) {
      const writes: Write[] = [];
      dataKeyRecord.set({ writes }, dataKeyKey(id), { erasedAt: at });
      const before = await dataKeyRecord.get(vault, dataKeyKey(id));
      if (before?.value.erasedAt === undefined) await vault.commit({ checks: [], writes });
      void memory.remember(id, Promise.resolve("erased"));
    },
  };
}

interface KeyMemory {
  recall(id: CaseId): Promise<Found> | undefined;
  /** Missing keys and failures are not remembered. Returns `found`. */
  remember(id: CaseId, found: Promise<Found>): Promise<Found>;
}

function openKeyMemory(monotonic: Clock): KeyMemory {
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

/** Returns a function that hands out ids one by one, and makes a block of them when none is left. */
function openIds(makeIds: () => Promise<readonly ConsentId[]>): () => Promise<ConsentId> {
  const unused: ConsentId[] = [];
  let filling: Promise<unknown> | undefined;
  return async () => {
    for (;;) {
      const id = unused.pop();
      if (id !== undefined) return id;
      await (filling ??= makeIds().then((ids) => unused.push(...ids)).finally(() => filling = undefined));
    }
  };
}

async function foundIn(
  { wrapping }: CaseKeysDeps,
  id: CaseId,
  entry: Entry<StoredDataKey> | null,
): Promise<Found> {
  if (entry === null) return "missing";
  const { wrappedBy, wrapped, erasedAt } = entry.value;
  if (erasedAt !== undefined || wrappedBy === undefined || wrapped === undefined) return "erased";
  return await importKey(await wrapping.unwrap(id, { wrappedBy, wrapped }));
}

async function makeBlock(
  deps: CaseKeysDeps,
): Promise<readonly { readonly id: ConsentId; readonly caseId: CaseId; readonly key: CryptoKey }[]> {
  const ids = Array.from({ length: BLOCK }, newConsentId);
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
  const wrapped = await Promise.all(
    ids.map((id, index) => wrapping.wrap(id, raw[index] ?? new Uint8Array())),
  );
  const writes: Write[] = [];
  for (const [index, id] of ids.entries()) {
    dataKeyRecord.set({ writes }, dataKeyKey(id), { ...wrapped[index] });
  }
  const checks = ids.map((id): Check => ({ key: dataKeyKey(id), version: null }));
  if (!await vault.commit({ checks, writes })) return undefined;
  return await Promise.all(raw.map(importKey));
}

async function importKey(raw: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]);
}
