/**
 * Moves the entries of one database into another, of the same engine or another. The source is closed to programs
 * before the first entry is read, and the target is closed until all entries have been read back and compared, so that no commit is lost
 * and no two platforms go on from one database. An interrupted copy is continued by the same command.
 *
 * The target of a move is not a restored copy: it has every commit. The target of a backup is one, because the mark
 * that a backup carries is an entry and is copied (`copy_mark.ts`). A backup remains as it is.
 */
import { createHash } from "node:crypto";
import { storeCopyKey } from "../../../src/base/store/copy_mark.ts";
import { decodeKey, encodeKey } from "../../../src/base/store/postgres/key_codec.ts";
import { isPostgresUrl } from "../../../src/base/store/postgres/settings.ts";
import type { Entry, Store } from "../../../src/base/store/store.ts";
import { type StoreIdentity, storeIdentityKey } from "../../../src/base/store/store_identity.ts";
import { openProgress } from "../../command_line/progress.ts";
import type { Database, Range, StoredEntry } from "./database.ts";
import { openAt } from "./open_database.ts";

const IDENTITY = encodeKey(storeIdentityKey);
/** Entries that are read at once: at most 64 MB, because a value has at most 65,536 characters. */
const PAGE = 1000;

/**
 * Copies all entries, compares them and opens the target to programs.
 *
 * @param from the path of a database file, or `postgres://…`
 * @param to the same, of a new file or an empty database with the schema
 * @returns what was done
 * @throws {Error} in one sentence if a database is in use, the target has other content, or the two differ afterwards
 */
export async function copyStore(from: string, to: string): Promise<string> {
  await rejectUsed(to);
  await using source = await openAt(from, "existing");
  await using target = await openAt(to, "new");
  const identity = await identityOf(source);
  const isContinued = await isUnfinished(target, identity);
  const isBackup = await source.store.get(storeCopyKey) !== null;
  if (!isBackup) await closeSource(source, identity, target.name);
  await setIdentity(target.store, { ...identity.value, copyingFrom: source.name });
  const { count, digest } = await copyEntries(source, target, isContinued);
  await setIdentity(target.store, identity.value);
  const after = isBackup ? "" : ` ${source.name} is closed: programs use ${target.name} now.`;
  return `${target.name} holds the ${count} entries of ${source.name}, SHA-256 ${digest}.${after}`;
}

/** A file's `.id` names the database that was in use at this path, and a program would not start on another one. */
async function rejectUsed(to: string): Promise<void> {
  if (isPostgresUrl(to) || await Deno.stat(`${to}.id`).catch(() => undefined) === undefined) return;
  throw new Error(
    `A database was in use at ${to} (${to}.id names it). Name another path, or delete ${to}.id.`,
  );
}

async function identityOf({ name, store }: Database): Promise<Entry<StoreIdentity>> {
  const found = await store.get<StoreIdentity>(storeIdentityKey);
  if (found === null) throw new Error(`${name} was never opened by a platform or a directory.`);
  if (found.value.copyingFrom !== undefined) {
    throw new Error(`${name} is an unfinished copy of ${found.value.copyingFrom}.`);
  }
  const { movedTo: _, ...value } = found.value;
  return { ...found, value };
}

/** Whether an interrupted copy is to be continued. @throws {Error} if the target has other content */
async function isUnfinished(target: Database, identity: Entry<StoreIdentity>): Promise<boolean> {
  const found = (await target.store.get<StoreIdentity>(storeIdentityKey))?.value;
  if (found?.copyingFrom !== undefined && found.id === identity.value.id) return true;
  if ((await target.read({}, 1)).length === 0) return false;
  throw new Error(`${target.name} has other content. Name a new file, or an empty database.`);
}

/** A program that starts now refuses the source. One that has started just before is seen afterwards. */
async function closeSource(source: Database, identity: Entry<StoreIdentity>, movedTo: string): Promise<void> {
  await setIdentity(source.store, { ...identity.value, movedTo });
  try {
    await source.rejectInUse();
  } catch (error) {
    await setIdentity(source.store, identity.value);
    throw error;
  }
}

async function setIdentity(store: Store, value: StoreIdentity): Promise<void> {
  await store.commit({ checks: [], writes: [{ kind: "set", key: storeIdentityKey, value }] });
}

interface Copied {
  readonly count: number;
  /** SHA-256, hexadecimal, of the keys and values in key order. */
  readonly digest: string;
}

async function copyEntries(source: Database, target: Database, isContinued: boolean): Promise<Copied> {
  const hash = createHash("sha256");
  using progress = openProgress("entries", await source.count());
  let count = 0;
  let after: string | undefined;
  let page = await source.read({}, PAGE);
  while (page.length > 0) {
    const until = page.at(-1)?.key;
    const [copies, next] = await Promise.all([
      copyPage(target, { after, until }, page, isContinued),
      source.read({ after: until }, PAGE),
    ]);
    for (const { key, json } of copies) hash.update(`${key}\n${json}\n`);
    count += copies.length;
    progress.done(count);
    [after, page] = [until, next];
  }
  rejectDifference(differenceOf([], await target.read({ after }, PAGE)));
  return { count, digest: hash.digest("hex") };
}

/** Writes the entries unless they are there already. Returns what the target has then. */
async function copyPage(
  target: Database,
  range: Range,
  page: readonly StoredEntry[],
  isContinued: boolean,
): Promise<readonly StoredEntry[]> {
  const entries = page.filter(({ key }) => key !== IDENTITY);
  const read = async (): Promise<readonly StoredEntry[]> =>
    (await target.read(range, 2 * PAGE)).filter(({ key }) => key !== IDENTITY);
  const present = isContinued ? await read() : undefined;
  if (present !== undefined && differenceOf(entries, present) === undefined) return present;
  const now = Date.now();
  await target.write(entries.filter((entry) => !isOver(entry, now)));
  const written = await read();
  rejectDifference(differenceOf(entries, written));
  return written;
}

function rejectDifference(difference: Difference | undefined): void {
  if (difference === undefined) return;
  const [name] = decodeKey(difference.key);
  throw new Error(
    `The copy is not complete. At an entry of ${name}: ${difference.what}. Empty the target and copy again.`,
  );
}

/** Deno KV takes the time from a commit to the expiry, so that an expiry moves by the time that the commit takes. */
const EXPIRY_MS = 10_000;

/** The first entry that is not alike on both sides. */
interface Difference {
  readonly key: string;
  readonly what: "values differ" | "expiries differ" | "target lacks it" | "source lacks it";
}

/** Whether a database may have deleted the entry. */
function isOver({ expiresAt }: StoredEntry, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Compares keys, values and expiries of the same range. Either side may lack entries that have expired. */
function differenceOf(
  source: readonly StoredEntry[],
  target: readonly StoredEntry[],
): Difference | undefined {
  const now = Date.now();
  const copies = new Map(target.map((copy) => [copy.key, copy]));
  for (const entry of source) {
    const { key } = entry;
    const copy = copies.get(key);
    copies.delete(key);
    if (copy === undefined) {
      if (!isOver(entry, now)) return { key, what: "target lacks it" };
    } else if (copy.json !== entry.json) return { key, what: "values differ" };
    else if (!areExpiriesAlike(entry.expiresAt, copy.expiresAt)) return { key, what: "expiries differ" };
  }
  const extra = [...copies.values()].find((copy) => !isOver(copy, now + EXPIRY_MS));
  return extra && { key: extra.key, what: "source lacks it" };
}

function areExpiriesAlike(expiry: number | undefined, copied: number | undefined): boolean {
  if (expiry === undefined || copied === undefined) return expiry === copied;
  return copied >= expiry && copied - expiry <= EXPIRY_MS;
}
