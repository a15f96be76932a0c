/**
 * Finds rows of traces by what they are about. Each commit of traces has a run of sorted entries in one row. Sixteen runs
 * of a level are merged into one of the next, whose entries are in rows that are found by their last one. So a trace costs
 * a part of a row, and a look-up reads one row of each run.
 */
import { z } from "zod";
import { defineRecord, optional, texts } from "../../../base/store/record.ts";
import { base64url } from "../../../base/kernel/identifiers.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { piecesBelow } from "../../../base/store/page.ts";
import type { Entry, Key, Store, Write } from "../../../base/store/store.ts";
import { newestFirstPart, timeOfNewestFirst, timePart } from "../../config/store_keys.ts";
import { digest } from "../../evidence/digest.ts";

export interface TraceIndex {
  /** Stages the run of one commit. */
  stage(writes: Write[], entries: readonly string[]): void;
  /** Returns entries with this beginning, in their order. */
  find(beginning: string): Promise<FoundEntries>;
  /** Merges the runs that are due, and returns how many there were. */
  merge(): Promise<number>;
}

export interface FoundEntries {
  readonly entries: readonly string[];
  /** Whether there are no others. */
  readonly isComplete: boolean;
}

/** Sorted entries: of the lowest level here, of others in rows. */
interface TraceRun {
  readonly entries?: readonly string[];
}

export const traceRunRecord = defineRecord<TraceRun>({
  name: "trace_run",
  keyParts: ["level", "time (ms) and random id"],
  what: "A run of what traces are about. The lowest level has its entries here, others in `trace_of`.",
  schema: z.looseObject({ entries: optional(texts) }),
  version: 1,
  lifetime: "Until it is merged with others, at the latest `PLATFORM_TRACE_DAYS`.",
  personalData: "pseudonymous",
  retention: "traces",
  restore: "kept",
});

export const traceOfRecord = defineRecord<{ readonly entries: readonly string[] }>({
  name: "trace_of",
  keyParts: ["id of the run", "the last entry"],
  what:
    "Sorted entries of a run: a hash of what a trace is about, one of its reader, and the key of its row.",
  schema: z.looseObject({ entries: texts }),
  version: 1,
  lifetime: "As long as its run.",
  personalData: "pseudonymous",
  retention: "traces",
  restore: "kept",
});

/** What a look-up begins with: an interaction, or a consent, a payment or another list. */
export type TraceTerm = "interaction" | "list";

const TERM_CHARACTERS = 12;
const READER_CHARACTERS = 8;
/** Of an entry, before the key of the row. */
const ABOUT_CHARACTERS = TERM_CHARACTERS + READER_CHARACTERS;

/** Returns the beginning of all entries about this, of one reader or of all. */
export function beginningOf(term: TraceTerm, text: string, reader?: string): string {
  return termOf(term, text) + (reader === undefined ? "" : readerOf(reader));
}

/** Returns the first part of a beginning. */
export function termOf(term: TraceTerm, text: string): string {
  return digest(`${term} ${text}`).slice(0, TERM_CHARACTERS);
}

/** Returns the second part of a beginning. */
export function readerOf(clientId: string): string {
  return digest(`reader ${clientId}`).slice(0, READER_CHARACTERS);
}

/** Returns the part of an entry that is the same for all rows about one thing. */
export const aboutOf = (entry: string): string => entry.slice(0, ABOUT_CHARACTERS);
/** Returns the key of the row that an entry leads to. */
export const placeIn = (entry: string): string => entry.slice(ABOUT_CHARACTERS);

/** Returns the key of a row of traces. Those of one process are in the order of their times, newest first. */
export function placeAt(at: number): string {
  return `${newestFirstPart(at)}-${randomPart()}`;
}

function randomPart(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(6)));
}

/** Runs of a level that are merged into one of the next. */
const MERGED = 16;
/** Of one row: about 50,000 characters. */
const MAX_IN_ROW = 1000;
/** In one commit. */
const ROWS = 8;
/** A look-up reads so many of each run. */
const MAX_ROWS_READ = 3;
const PAGE = 100;

interface State {
  readonly store: Store;
  readonly clock: Clock;
  readonly keepMs: number;
  /** Entries about one thing that a merged run keeps, because no look-up returns more. */
  readonly most: number;
  /** Merged runs, whose rows a look-up under way may still read. */
  readonly left: string[];
  /** Commits since the last merge. */
  staged: number;
}

export function openTraceIndex(deps: Pick<State, "store" | "clock" | "keepMs" | "most">): TraceIndex {
  const state: State = { ...deps, left: [], staged: MERGED };
  return {
    stage(writes, entries) {
      const now = state.clock();
      state.staged++;
      traceRunRecord.set(
        { writes },
        runKey(0, newRun(now)),
        { entries: entries.toSorted() },
        now + state.keepMs,
      );
    },
    find: (beginning) => find(state, beginning),
    async merge() {
      if (state.staged < MERGED) return 0;
      state.staged = 0;
      for (const id of state.left.splice(0)) await removeRows(state, id);
      let merged = 0;
      for (let level = 0, before = -1; merged > before; level++) {
        before = merged;
        while (await mergeLevel(state, level)) merged += MERGED;
      }
      return merged;
    },
  };
}

const runKey = (level: number, id: string): Key => [traceRunRecord.name, String(level), id];
const newRun = (now: number): string => `${timePart(now)}-${randomPart()}`;

async function find({ store }: State, beginning: string): Promise<FoundEntries> {
  const found: FoundEntries[] = [];
  for await (const piece of piecesBelow(store, [traceRunRecord.name], PAGE)) {
    found.push(...await Promise.all(piece.map((run) => findIn(store, run, beginning))));
  }
  const entries = found.flatMap((one) => one.entries).toSorted();
  return { entries, isComplete: found.every(({ isComplete }) => isComplete) };
}

async function findIn(store: Store, run: Entry<unknown>, beginning: string): Promise<FoundEntries> {
  const [inRun, id] = [traceRunRecord.decode(run).value.entries, run.key[2] ?? ""];
  const begins = (entry: string): boolean => entry.startsWith(beginning);
  if (inRun !== undefined) return { entries: inRun.filter(begins), isComplete: true };
  const entries: string[] = [];
  let after = beginning;
  for (let read = 0; read < MAX_ROWS_READ; read++) {
    const row = await rowAfter(store, id, after);
    entries.push(...row.filter(begins));
    after = row.at(-1) ?? "";
    if (!begins(after)) return { entries, isComplete: true };
  }
  return { entries, isComplete: false };
}

/** Returns the first entries whose last one comes after this; none at the end. */
async function rowAfter(store: Store, id: string, after: string): Promise<readonly string[]> {
  const prefix = [traceOfRecord.name, id];
  const [row] = await store.list({ prefix, after: [...prefix, after], limit: 1 });
  return row === undefined ? [] : traceOfRecord.decode(row).value.entries;
}

/** @returns whether enough runs were there, and no other process has merged them */
async function mergeLevel(state: State, level: number): Promise<boolean> {
  const { store, keepMs, clock } = state;
  const runs = (await store.list({ prefix: [traceRunRecord.name, String(level)], limit: MERGED }))
    .map(traceRunRecord.decode);
  if (runs.length < MERGED) return false;
  const [id, checks] = [newRun(clock()), runs.map(({ key, version }) => ({ key, version }))];
  let [writes, newest]: [Write[], number] = [[], 0];
  for await (const entries of mergedRows(state, runs)) {
    if (writes.length === ROWS) {
      await store.commit({ checks: [], writes });
      writes = [];
    }
    const latest = Math.max(...entries.map(timeIn));
    newest = Math.max(newest, latest);
    const last = entries.at(-1) ?? "";
    traceOfRecord.set({ writes }, [traceOfRecord.name, id, last], { entries }, latest + keepMs);
  }
  if (newest > 0) traceRunRecord.set({ writes }, runKey(level + 1, id), {}, newest + keepMs);
  for (const { key } of runs) writes.push({ kind: "delete", key });
  const isDone = await store.commit({ checks, writes });
  if (!isDone) await removeRows(state, id);
  else if (level > 0) state.left.push(...runs.map(({ key }) => key[2] ?? ""));
  return isDone;
}

/** Returns the entries of runs in their order, in rows, without those of traces that are no longer kept. */
async function* mergedRows(
  { store, clock, keepMs, most }: State,
  runs: readonly Entry<TraceRun>[],
): AsyncGenerator<readonly string[]> {
  const cursors = await Promise.all(runs.map(({ key, value }) => openCursor(store, key[2] ?? "", value)));
  let [row, about, same]: [string[], string, number] = [[], "", 0];
  for (let least = leastOf(cursors); least !== undefined; least = leastOf(cursors)) {
    const entry = least.entries[least.at++] ?? "";
    if (least.at === least.entries.length) await least.refill();
    same = aboutOf(entry) === about ? same + 1 : 1;
    about = aboutOf(entry);
    if (same > most || timeIn(entry) + keepMs <= clock()) continue;
    row.push(entry);
    if (row.length < MAX_IN_ROW) continue;
    yield row;
    row = [];
  }
  if (row.length > 0) yield row;
}

/** Where the merge is in a run. At its end it has no entries. */
interface Cursor {
  entries: readonly string[];
  at: number;
  readonly refill: () => Promise<void>;
}

async function openCursor(store: Store, id: string, { entries }: TraceRun): Promise<Cursor> {
  const isInRows = entries === undefined;
  const cursor: Cursor = {
    entries: entries ?? [],
    at: 0,
    async refill() {
      const last = cursor.entries.at(-1) ?? "";
      [cursor.entries, cursor.at] = [isInRows ? await rowAfter(store, id, last) : [], 0];
    },
  };
  if (isInRows) await cursor.refill();
  return cursor;
}

function leastOf(cursors: readonly Cursor[]): Cursor | undefined {
  let least: Cursor | undefined;
  for (const cursor of cursors) {
    if (cursor.entries.length > 0 && (least === undefined || next(cursor) < next(least))) least = cursor;
  }
  return least;
}

const next = ({ entries, at }: Cursor): string => entries[at] ?? "";
const timeIn = (entry: string): number => timeOfNewestFirst(placeIn(entry));

async function removeRows({ store }: State, id: string): Promise<void> {
  for await (const rows of piecesBelow(store, [traceOfRecord.name, id], PAGE)) {
    await store.commit({ checks: [], writes: rows.map(({ key }) => ({ kind: "delete", key })) });
  }
}
