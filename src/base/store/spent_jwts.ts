/**
 * Keeps the replay records of a file in memory, because one process changes the file, and a row for each would cost more
 * than what many commits write. A transaction has those of all its commits in one row, with what waits for the evidence
 * log if there is any. When that has its place and the row is deleted, they go into a row with those of others. A record is
 * reserved before the transaction begins and released if that fails, and the rows are read when the file is opened.
 */
import { piecesBelow } from "./page.ts";
import { keyText } from "./request_reads.ts";
import {
  logWaitingRecord,
  SPENT_KEPT_LONGER_MS,
  type SpentJwt,
  spentJwtRecord,
  spentJwtsRecord,
} from "./base_records.ts";
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

/**
 * Records are forgotten together with all that expire in the same ten minutes. Each has about 70 bytes until then. A PKCE
 * challenge has them for a day: 7 MB if a day has 100,000 payments.
 */
const SPAN_MS = 600_000;
const PIECE = 1000;
/** A row that waits for the log has at most so many, so that one transaction can move those of many rows. */
const MAX_GUESTS = 6;
/** Of one row: 36 kB. */
const MAX_IN_ROW = 600;
/** A row has those that expire in the same two hours, so that those of JWTs are not kept as long as those of challenges. */
const ROW_SPAN_MS = 7_200_000;

interface State {
  /**
   * By span of their expiry: how long after its start each expires, and for each time that it was written again, one span
   * more: so each write has another version.
   */
  readonly spans: Map<number, Map<string, number>>;
  /** Those in rows that wait for the evidence log, by key. */
  readonly guests: Map<string, readonly SpentJwt[]>;
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
  const state: State = { spans: new Map(), guests: new Map(), reserved: new Map() };
  await remember(state, list);
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
      const { rows, host } = placeSpent(state, others.writes, spent);
      // Before it begins: the log may see the row, and delete it, before this has ended.
      if (host !== undefined) state.guests.set(host, spent);
      let done = false;
      try {
        return done = await reserving(state, spent, () => commit({ ...others, writes: rows }));
      } finally {
        if (done) deletedKeys(others.writes).forEach((name) => state.guests.delete(name));
        else if (host !== undefined) state.guests.delete(host);
      }
    },
    async getMany(keys, read) {
      const others = keys.filter((key) => !isSpent(key));
      const found = others.length === 0 ? [] : await read(others);
      let next = 0;
      return keys.map((key) => isSpent(key) ? entryOf(state, key) : found[next++] ?? null);
    },
  };
}

async function remember(state: State, list: List): Promise<void> {
  for (const { name } of [spentJwtRecord, spentJwtsRecord, logWaitingRecord]) {
    for await (const rows of piecesBelow({ list }, [name], PIECE)) {
      for (const row of rows) {
        for (const spent of spentIn(row)) keep(state, spent);
        if (name === logWaitingRecord.name) state.guests.set(keyText(row.key), spentIn(row));
      }
    }
  }
}

/** Gives each replay record of a copied file a row of its own, for a database that several processes share. */
export async function spreadSpentJwts(store: Pick<Store, "list" | "commit">): Promise<void> {
  for (const { name } of [spentJwtsRecord, logWaitingRecord]) {
    for await (const rows of piecesBelow(store, [name], PIECE)) {
      for (const row of rows) await spread(store, row);
    }
  }
}

async function spread(store: Pick<Store, "commit">, row: Entry<unknown>): Promise<void> {
  const writes: Write[] = [];
  if (spentIn(row).length === 0) return;
  if (row.key[0] === spentJwtsRecord.name) writes.push({ kind: "delete", key: row.key });
  else logWaitingRecord.set({ writes }, row.key, { leaves: logWaitingRecord.decode(row).value.leaves });
  for (const { id, expiresAt } of spentIn(row)) {
    const until = expiresAt + SPENT_KEPT_LONGER_MS;
    spentJwtRecord.set({ writes }, [spentJwtRecord.name, id], { expiresAt }, until);
  }
  await store.commit({ checks: [row], writes }); // if not, another process has
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

interface Placed {
  readonly rows: readonly Write[];
  /** The row that waits for the evidence log and has them. */
  readonly host?: string;
}

/** Puts them into a row that the transaction writes anyway, or into one of their own with those of rows that it deletes. */
function placeSpent({ guests }: State, writes: readonly Write[], spent: readonly SpentJwt[]): Placed {
  const moved = deletedKeys(writes).flatMap((name) => guests.get(name) ?? []);
  const host = writes.find((write) => write.kind === "set" && write.key[0] === logWaitingRecord.name);
  if (host?.kind !== "set" || spent.length === 0 || spent.length > MAX_GUESTS) {
    return { rows: [...writes, ...rowsOf([...spent, ...moved])] };
  }
  const staged: Write[] = [];
  const { leaves } = logWaitingRecord.decode({ ...host, version: "" }).value;
  logWaitingRecord.set({ writes: staged }, host.key, { leaves, spent });
  const others = writes.filter((write) => write !== host);
  return { rows: [...others, ...staged, ...rowsOf(moved)], host: keyText(host.key) };
}

function deletedKeys(writes: readonly Write[]): readonly string[] {
  return writes.filter(({ kind, key: [name] }) => kind === "delete" && name === logWaitingRecord.name)
    .map(({ key }) => keyText(key));
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
  return newest < 0 ? null : { key, value: { expiresAt }, version: `${newest} ${written}` };
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
  if (name === spentJwtsRecord.name) return spentJwtsRecord.decode(entry).value.spent;
  if (name === logWaitingRecord.name) return logWaitingRecord.decode(entry).value.spent ?? [];
  return [{ id, ...spentJwtRecord.decode(entry).value }];
}

function spentOf(write: Write): SpentJwt {
  const [, id = ""] = write.key;
  if (write.kind === "delete") throw new TypeError("a replay record is never deleted");
  return { id, expiresAt: spentJwtRecord.decode({ ...write, version: "" }).value.expiresAt };
}

function rowsOf(spent: readonly SpentJwt[]): readonly Write[] {
  const writes: Write[] = [];
  for (const some of Map.groupBy(spent, ({ expiresAt }) => Math.floor(expiresAt / ROW_SPAN_MS)).values()) {
    for (let start = 0; start < some.length; start += MAX_IN_ROW) {
      stageRow(writes, some.slice(start, start + MAX_IN_ROW));
    }
  }
  return writes;
}

function stageRow(writes: Write[], spent: readonly SpentJwt[]): void {
  const expiresAt = Math.max(...spent.map((one) => one.expiresAt));
  const key = [spentJwtsRecord.name, String(expiresAt).padStart(15, "0"), spent[0]?.id ?? ""];
  spentJwtsRecord.set({ writes }, key, { spent }, expiresAt + SPENT_KEPT_LONGER_MS);
}
