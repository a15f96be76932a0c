/**
 * Keeps the replay records of a file in memory, because one process changes the file, and a row for each would cost more
 * than what many commits write. A transaction has those of all its commits in one row. A record is reserved before the
 * transaction begins and released if that fails, and the rows are read when the file is opened.
 */
import { SPENT_KEPT_LONGER_MS, type SpentJwt, spentJwtRecord, spentJwtsRecord } from "./base_records.ts";
import type { OpeningHooks } from "./file_engine.ts";
import type { Check, Commit, Entry, Key, Listing, Store, Write } from "./store.ts";

export interface SpentJwts {
  /** Commits one transaction. `commit` gets it with one row in place of its replay records. */
  commit(staged: Commit, commit: (staged: Commit) => Promise<boolean>): Promise<boolean>;
  /** Reads entries, in the order of the keys. `read` gets the keys of those that are no replay records. */
  getMany(keys: readonly Key[], read: ReadEntries): Promise<readonly Found[]>;
}

type List = (listing: Listing) => Promise<Entry<unknown>[]>;
type Found = Entry<unknown> | null;
type ReadEntries = (keys: readonly Key[]) => Promise<readonly Found[]>;

/** Records are forgotten together with all that expire in the same ten minutes. Each has about 70 bytes until then. */
const SPAN_MS = 600_000;
const PAGE = 1000;

interface State {
  /**
   * By span of their expiry: how long after its start each expires, and for each time that it was written again, one span
   * more: so each write has another version.
   */
  readonly spans: Map<number, Map<string, number>>;
  /** Those of transactions under way. */
  readonly reserved: Map<string, Promise<void>>;
}

/** Replay records as any other entries. */
const AS_STORED: SpentJwts = {
  commit: (staged, commit) => commit(staged),
  getMany: (keys, read) => read(keys),
};

/** Reads the rows. @param list of the file's entries */
export async function openSpentJwts(list: List, { isAsStored = false }: OpeningHooks): Promise<SpentJwts> {
  if (isAsStored) return AS_STORED;
  const state: State = { spans: new Map(), reserved: new Map() };
  for (const { name } of [spentJwtRecord, spentJwtsRecord]) {
    for await (const entry of entriesOf(name, list)) {
      for (const spent of spentIn(entry)) keep(state, spent);
    }
  }
  return {
    async commit(staged, commit) {
      const writes = Object.groupBy(staged.writes, ({ key }) => isSpent(key) ? "spent" : "others");
      const checks = Object.groupBy(staged.checks, ({ key }) => isSpent(key) ? "spent" : "others");
      const spent = (writes.spent ?? []).map(spentOf);
      // Without a wait between the last look and the reservation, or two would reserve the same.
      for (let other = reservedOf(state, spent); other !== undefined; other = reservedOf(state, spent)) {
        await other;
      }
      if (!(checks.spent ?? []).every((check) => holds(state, check))) return false;
      const others = { checks: checks.others ?? [], writes: writes.others ?? [] };
      const whole = { ...others, writes: [...others.writes, ...rowOf(spent)] };
      return await reserving(state, spent, () => commit(whole));
    },
    async getMany(keys, read) {
      const others = keys.filter((key) => !isSpent(key));
      const found = others.length === 0 ? [] : await read(others);
      let next = 0;
      return keys.map((key) => isSpent(key) ? entryOf(state, key) : found[next++] ?? null);
    },
  };
}

/** Gives each replay record of a copied file a row of its own, for a database that several processes share. */
export async function spreadSpentJwts(store: Pick<Store, "list" | "commit">): Promise<void> {
  for await (const row of entriesOf(spentJwtsRecord.name, store.list)) {
    const writes: Write[] = [{ kind: "delete", key: row.key }];
    for (const { id, expiresAt } of spentIn(row)) {
      const until = expiresAt + SPENT_KEPT_LONGER_MS;
      spentJwtRecord.set({ writes }, [spentJwtRecord.name, id], { expiresAt }, until);
    }
    await store.commit({ checks: [row], writes }); // if not, another process has
  }
}

async function* entriesOf(name: string, list: List): AsyncGenerator<Entry<unknown>> {
  let page = await list({ prefix: [name], limit: PAGE });
  yield* page;
  while (page.length === PAGE) {
    page = await list({ prefix: [name], limit: PAGE, after: page.at(-1)?.key ?? [] });
    yield* page;
  }
}

function isSpent([name]: Key): boolean {
  return name === spentJwtRecord.name;
}

async function reserving(
  state: State,
  spent: readonly SpentJwt[],
  commit: () => Promise<boolean>,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const { id } of spent) state.reserved.set(id, promise);
  try {
    const done = await commit();
    for (const one of done ? spent : []) keep(state, one);
    return done;
  } finally {
    for (const { id } of spent) state.reserved.delete(id);
    resolve();
  }
}

/** The end of a transaction under way that writes one of these. */
function reservedOf({ reserved }: State, spent: readonly SpentJwt[]): Promise<void> | undefined {
  return spent.map(({ id }) => reserved.get(id)).find((one) => one !== undefined);
}

function holds(state: State, { key, version }: Check): boolean {
  return (entryOf(state, key)?.version ?? null) === version;
}

function entryOf({ spans }: State, key: Key): Entry<unknown> | null {
  const [, id = ""] = key;
  let [newest, written] = [-1, 0];
  for (const [span, ids] of spans) {
    const kept = ids.get(id);
    if (kept !== undefined && span > newest) [newest, written] = [span, kept];
  }
  const expiresAt = newest + written % SPAN_MS;
  return newest < 0 ? null : { key, value: { expiresAt }, version: String(newest + written) };
}

function keep({ spans }: State, { id, expiresAt }: SpentJwt): void {
  const forgotten = Date.now() - SPENT_KEPT_LONGER_MS - SPAN_MS;
  for (const span of spans.keys()) if (span < forgotten) spans.delete(span);
  const after = expiresAt % SPAN_MS;
  const ids = spans.get(expiresAt - after) ?? new Map<string, number>();
  const former = ids.get(id);
  const times = former === undefined ? 0 : Math.floor(former / SPAN_MS) + 1;
  spans.set(expiresAt - after, ids.set(id, after + times * SPAN_MS));
}

function spentIn(entry: Entry<unknown>): readonly SpentJwt[] {
  const [name, id = ""] = entry.key;
  return name === spentJwtsRecord.name
    ? spentJwtsRecord.decode(entry).value.spent
    : [{ id, ...spentJwtRecord.decode(entry).value }];
}

function spentOf(write: Write): SpentJwt {
  const [, id = ""] = write.key;
  if (write.kind === "delete") throw new TypeError("a replay record is never deleted");
  return { id, expiresAt: spentJwtRecord.decode({ ...write, version: "" }).value.expiresAt };
}

function rowOf(spent: readonly SpentJwt[]): readonly Write[] {
  const writes: Write[] = [];
  const [first] = spent;
  if (first === undefined) return [];
  const expiresAt = Math.max(...spent.map((one) => one.expiresAt));
  const key = [spentJwtsRecord.name, String(expiresAt).padStart(15, "0"), first.id];
  spentJwtsRecord.set({ writes }, key, { spent }, expiresAt + SPENT_KEPT_LONGER_MS);
  return writes;
}
