/**
 * Stores figures by day. A recorder overwrites its rows with its sums, so that no row is written by two processes and a
 * write that is repeated counts once. A read adds the rows up.
 */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { convertedRecord, count, defineRecord, optional } from "../../../base/store/record.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { piecesBelow } from "../../../base/store/page.ts";
import type { Key, Store, Write } from "../../../base/store/store.ts";
import { figuresKey } from "../../config/store_keys.ts";
import { addFigures, COUNTS, DAY_MS, dayOf, type Figures, MINUTES, noFigures, TIMES } from "./figures.ts";

/** Whom figures are about: a bank by its code, a TPP or bank as a client by its client id, or the platform. */
export type FiguresOf = "bank" | "client" | "platform";

/** The figures of a day, by subject. */
export type DayFigures = ReadonlyMap<string, Figures>;

export interface FiguresRow {
  /** Random. */
  readonly id: string;
  readonly of: FiguresOf;
  readonly day: string;
  readonly subject: string;
  readonly figures: Figures;
}

export interface FiguresStore {
  /** Overwrites rows, in one commit. At most {@link MAX_ROWS_WRITTEN}. @throws {StoreFailure} */
  write(rows: readonly FiguresRow[]): Promise<void>;
  /** Returns the sums of a day for every subject, or for at least these. */
  readDay(of: FiguresOf, day: string, subjects?: readonly string[]): Promise<DayFigures>;
  /** Returns the last day with figures of a subject, of today and the 30 days before it. */
  lastDayOf(of: FiguresOf, subject: string): Promise<string | undefined>;
}

/** Stored counts and times. */
export const storedSums = {
  counts: z.looseObject(Object.fromEntries(COUNTS.map((name) => [name, optional(count)]))),
  reasons: z.record(z.string(), count),
  times: z.looseObject(Object.fromEntries(TIMES.map((name) => [name, optional(z.array(count))]))),
};
const stored = z.looseObject({
  ...storedSums,
  minutes: z.looseObject(Object.fromEntries(MINUTES.map((name) => [name, optional(z.hex())]))),
});

export const figuresRecord = convertedRecord(
  defineRecord<z.infer<typeof stored>>({
    name: "day_figures",
    keyParts: ["`bank`, `client` or `platform`", "day", "bank code or client id", "random id"],
    what:
      "Requests, payments, orders, their times and minutes of outages of a day, as one process has counted them.",
    schema: stored,
    version: 1,
    lifetime: "`PLATFORM_REPORT_DAYS`.",
    personalData: "participant",
    retention: "protocol",
    restore: "kept",
  }),
  ({ minutes, ...sums }): Figures => {
    const bits = Object.entries(minutes).map(([name, hex]) => [name, Uint8Array.fromHex(String(hex))]);
    return { ...sums, minutes: Object.fromEntries(bits) } as Figures;
  },
  ({ minutes, ...sums }) => ({
    ...sums,
    minutes: Object.fromEntries(Object.entries(minutes).map(([name, bits]) => [name, bits.toHex()])),
  }),
);

export const MAX_ROWS_WRITTEN = 100;
const ROWS_READ = 500;
/** Of one day. Participants beyond it are missing. */
const MAX_ROWS_READ = 50_000;
/** A day hardly changes so long after its end: processes write every 10 s, unless the store fails. */
const SETTLED_MS = 3_600_000;
/** So long a process keeps what it has read of a settled day. */
const KEPT_MS = 3_600_000;
/** Sums of settled days that this process keeps, all days together. */
const MAX_KEPT = 20_000;
const LAST_DAYS = 30;
/** Of so few subjects the rows are read alone, and not those of a day. */
const FEW = 5;

export interface FiguresStoreDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long rows are kept, milliseconds. */
  readonly keepMs: number;
}

/** Sums of a day, and when they were read (milliseconds). */
interface Settled {
  readonly at: number;
  readonly sums: Promise<DayFigures>;
}

export function openFiguresStore({ store, clock, keepMs }: FiguresStoreDeps): FiguresStore {
  const settled = new LRUCache<string, Settled>({ maxSize: MAX_KEPT });
  const endOf = (day: string): number => Date.parse(day) + DAY_MS + keepMs;
  const read = (of: FiguresOf, day: string): Promise<DayFigures> => readSums(store, [figuresKey(of, day)]);
  return {
    async write(rows) {
      const writes: Write[] = [];
      for (const { id, of, day, subject, figures } of rows) {
        figuresRecord.set({ writes }, figuresKey(of, day, subject, id), figures, endOf(day));
      }
      if (writes.length > 0) await store.commit({ checks: [], writes });
    },
    lastDayOf: (of, subject) => lastDayOf(store, clock(), (day) => figuresKey(of, day, subject)),
    async readDay(of, day, subjects) {
      if (clock() >= endOf(day)) return new Map(); // also if this process has read it
      const isSettled = clock() >= Date.parse(day) + DAY_MS + SETTLED_MS && day <= dayOf(clock());
      const last = isSettled ? settled.get(`${of} ${day}`) : undefined;
      const kept = last !== undefined && clock() < last.at + KEPT_MS ? last : undefined;
      if (kept === undefined && subjects !== undefined && subjects.length <= FEW) {
        return await readSums(store, subjects.map((subject) => figuresKey(of, day, subject)));
      }
      if (!isSettled) return await read(of, day);
      const known = kept ?? { at: clock(), sums: read(of, day) };
      const sums = await known.sums;
      settled.set(`${of} ${day}`, known, { size: sums.size + 1 });
      return sums;
    },
  };
}

/** Adds the rows below these keys up, by subject. */
async function readSums(store: Store, prefixes: readonly Key[]): Promise<DayFigures> {
  const sums = new Map<string, Figures>();
  for (const prefix of prefixes) {
    for await (const rows of piecesBelow(store, prefix, ROWS_READ, MAX_ROWS_READ)) {
      for (const { key, value } of rows.map(figuresRecord.decode)) {
        const subject = key[3] ?? "";
        const sum = sums.get(subject) ?? noFigures();
        sums.set(subject, sum);
        addFigures(sum, value);
      }
    }
  }
  return sums;
}

async function lastDayOf(
  store: Store,
  now: number,
  prefixOf: (day: string) => Key,
): Promise<string | undefined> {
  for (let ago = 0; ago <= LAST_DAYS; ago++) {
    const day = dayOf(now - ago * DAY_MS);
    const [row] = await store.list({ prefix: prefixOf(day), limit: 1 });
    if (row !== undefined) return day;
  }
  return undefined;
}
