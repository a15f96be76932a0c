/**
 * Wraps a store and encrypts the personal members of values under the data key of their case (Decision P3). Callers
 * read and write values as they are. The database, its copies and its backups have them sealed.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib"; // CompressionStream takes four times as long
import type { Entry, Key, Store, Write } from "../../../base/store/store.ts";
import { base64url } from "../../../base/kernel/identifiers.ts";
import type { MonotonicClock } from "../../../base/kernel/clock.ts";
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import { openBox, sealBox } from "./aes_box.ts";
import type { CaseId, CaseKeys } from "./case_keys.ts";
import { LOST, PRESENT } from "../personal_data.ts";
import { isJsonObject } from "../../../base/kernel/json.ts";

export type Members = Readonly<Record<string, unknown>>;

/** How the values of a record are sealed. */
export interface Sealing {
  /** Name of the record. */
  readonly record: string;
  /** Returns the case of a value, or undefined if it belongs to none. Then it is not sealed. */
  readonly caseOf: (key: Key, value: Members) => CaseId | undefined;
  /** Whether values of a listing stay sealed. */
  readonly isClosedInLists?: boolean;
  /**
   * Divides a value. `open` stays readable and has the form of the record. `sealed` has the members that replace
   * those of `open`; without members the value is not sealed.
   */
  readonly divide: (value: Members) => { readonly open: Members; readonly sealed: Members };
}

/** The stored member with the sealed ones: a box with their JSON, compressed (raw deflate), in base64url. */
export const SEALED = "sealedMembers";
/** The member that says whether the personal data can be read. A reader of a sealed record decides by it. */
const STATE = "personalData";
const BASE64URL = { alphabet: "base64url" } as const;
/** Length of the JSON of sealed members, in UTF-16 units, of which each has at most three bytes in UTF-8. */
const MAX_SEALED = 262_144;
const BOUND = { maxOutputLength: 3 * MAX_SEALED };

/**
 * The newest box of each value that this process has just sealed or opened, and the text in it, because a consent is
 * read soon after each of its changes, and most changes leave its sealed members as they are. Like data keys, boxes are
 * remembered for a minute at most, and never used without the data key.
 */
interface RecentBoxes {
  note(name: string, box: string, json: string): void;
  /** Returns the text in this box. */
  textIn(name: string, box: string): string | undefined;
  /** Returns a box with this text. */
  boxOf(name: string, json: string): string | undefined;
}

const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 2000;
/** Bounds the memory. Longer texts, as of evidence, are not read soon. */
const MAX_CHARACTERS = 4000;

function openRecentBoxes(monotonic: MonotonicClock): RecentBoxes {
  const recent = openRecentlyUsed<{ readonly box: string; readonly json: string; readonly until: number }>(
    MAX_REMEMBERED,
  );
  const find = (name: string): { readonly box?: string; readonly json?: string } => {
    const found = recent.get(name);
    return found !== undefined && monotonic() < found.until ? found : {};
  };
  return {
    note(name, box, json) {
      if (json.length <= MAX_CHARACTERS) recent.set(name, { box, json, until: monotonic() + REMEMBERED_MS });
      else recent.delete(name);
    },
    textIn(name, box) {
      const found = find(name);
      return found.box === box ? found.json : undefined;
    },
    boxOf(name, json) {
      const found = find(name);
      return found.json === json ? found.box : undefined;
    },
  };
}

export function sealStore(
  store: Store,
  keys: CaseKeys,
  sealings: readonly Sealing[],
  monotonic: MonotonicClock,
): Store {
  const recent = openRecentBoxes(monotonic);
  const byRecord = new Map(sealings.map((sealing) => [sealing.record, sealing]));
  const opened = async <T>(entry: Entry<T>): Promise<Entry<T>> => {
    const sealing = byRecord.get(entry.key[0] ?? "");
    const value: unknown = entry.value;
    if (sealing === undefined || !isJsonObject(value)) return entry;
    if (!isSealed(value)) return withoutPersonalData(sealing, entry, value);
    return { ...entry, value: await openValue({ keys, recent }, sealing, entry.key, value) as T };
  };
  const isClosed = ({ key: [name = ""] }: Entry<unknown>): boolean =>
    byRecord.get(name)?.isClosedInLists === true;
  const openedOrNull = async <T>(entry: Entry<T> | null): Promise<Entry<T> | null> =>
    entry === null ? null : await opened(entry);
  const sealed = async (write: Write): Promise<Write> => {
    const sealing = byRecord.get(write.key[0] ?? "");
    if (sealing === undefined || write.kind === "delete" || !isJsonObject(write.value)) return write;
    return { ...write, value: await sealValue({ keys, recent }, sealing, write.key, write.value) };
  };
  return {
    get: async <T>(key: Key) => await openedOrNull(await store.get<T>(key)),
    getMany: async <T>(all: readonly Key[]) =>
      await Promise.all((await store.getMany<T>(all)).map(openedOrNull)),
    list: async <T>(listing: Parameters<Store["list"]>[0]) =>
      await Promise.all(
        (await store.list<T>(listing)).map((entry) => isClosed(entry) ? entry : opened(entry)),
      ),
    commit: async (staged) =>
      await store.commit({ ...staged, writes: await Promise.all(staged.writes.map(sealed)) }),
    close: () => store.close(),
  };
}

/** @throws {Error} if personal data stands unsealed: this store did not write it */
function withoutPersonalData<T>(
  { record, caseOf, divide }: Sealing,
  entry: Entry<T>,
  value: Members,
): Entry<T> {
  const hasPersonalData = caseOf(entry.key, value) !== undefined &&
    Object.keys(divide(value).sealed).length > 0;
  if (hasPersonalData) throw new Error(`the personal data of a stored ${record} is not sealed`);
  return entry;
}

interface Opened {
  readonly keys: CaseKeys;
  readonly recent: RecentBoxes;
}

async function sealValue(
  { keys, recent }: Opened,
  sealing: Sealing,
  key: Key,
  value: Members,
): Promise<Members> {
  const id = sealing.caseOf(key, value);
  if (id === undefined) return value;
  const { open, sealed } = sealing.divide(value);
  if (isSealed(value)) {
    return isLost(value) ? { ...open, [STATE]: PRESENT, [SEALED]: value[SEALED] } : open; // it was erased meanwhile
  }
  if (Object.keys(sealed).length === 0) return value;
  const [name, json] = [nameOf(key), JSON.stringify(sealed)];
  if (json.length > MAX_SEALED) throw new Error(`sealed members of ${name} are too long`);
  const dataKey = await keys.sealing(id);
  const box = recent.boxOf(name, json) ??
    base64url(await sealBox(dataKey, name, Uint8Array.from(deflateRawSync(json))));
  recent.note(name, box, json);
  return { ...open, [SEALED]: box };
}

/**
 * A value of an erased case has its open members only. So has one whose key is lost; it keeps its box, so that it is
 * written back with it and opens again once the key is back.
 */
async function openValue(
  { keys, recent }: Opened,
  sealing: Sealing,
  key: Key,
  { [SEALED]: text, ...open }: Members & { readonly [SEALED]: string },
): Promise<Members> {
  const id = sealing.caseOf(key, open);
  if (id === undefined) throw new Error(`a sealed ${sealing.record} belongs to no case`);
  const dataKey = await keys.opening(id);
  if (typeof dataKey === "object" && "state" in dataKey) return { ...open, [STATE]: dataKey };
  const name = nameOf(key);
  const json = dataKey === "lost"
    ? undefined
    : recent.textIn(name, text) ?? await openText({ keys, dataKey, id }, name, text);
  if (json === undefined) return { ...open, [SEALED]: text, [STATE]: LOST };
  recent.note(name, text, json);
  const members = JSON.parse(json) as Members;
  return { ...open, ...members };
}

/** Returns undefined if the key that sealed it is lost. @throws {Error} if it was changed */
async function openText(
  { keys, dataKey, id }: { readonly keys: CaseKeys; readonly dataKey: CryptoKey; readonly id: CaseId },
  name: string,
  text: string,
): Promise<string | undefined> {
  const box = Uint8Array.fromBase64(text, BASE64URL);
  try {
    return new TextDecoder().decode(inflateRawSync(await openBox(dataKey, name, box), BOUND));
  } catch (error) {
    if (!keys.canLackKeys) throw error;
    keys.noteLost(id);
    return undefined;
  }
}

function isLost({ [STATE]: state }: Members): boolean {
  return isJsonObject(state) && state["state"] === LOST.state;
}

/** Key parts contain no NUL. */
function nameOf(key: Key): string {
  return key.join("\0");
}

function isSealed(value: unknown): value is Members & { readonly [SEALED]: string } {
  return isJsonObject(value) && typeof value[SEALED] === "string";
}
