/**
 * Counts in memory what requests and pushes do. A background job stores the sums, so that no request waits for it. A
 * process that is killed loses the last ten seconds, or the last minute if operators do not see it among the others.
 */
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { PlatformMetrics } from "../metrics.ts";
import {
  type FiguresOf,
  type FiguresRow,
  type FiguresStore,
  type FiguresStoreDeps,
  MAX_ROWS_WRITTEN,
  openFiguresStore,
} from "./figures_store.ts";
import {
  type Count,
  countOne,
  countReason,
  countTime,
  DAY_MS,
  dayOf,
  type Figures,
  markMinute,
  type Minute,
  noFigures,
} from "./figures.ts";
import { openLastPushes, type ProcessPushes } from "./last_pushes.ts";

/** A request of an authenticated client, and the bank if it was a TPP's below the path of a bank. */
export interface CountedRequest {
  readonly bank: string | undefined;
  readonly clientId: string;
  readonly status: number;
  /** Of the error catalogue. Absent if the request succeeded. */
  readonly reason: string | undefined;
  readonly milliseconds: number;
}

export type PushResult = Extract<Count, "answered" | "refused" | "unclear" | "unreachable">;

/** The end of an order: the bank answered its first push or a later one, or the platform gave it up. */
export type OrderEnd = Extract<Count, "answeredAtFirst" | "answeredLater" | "givenUp">;

export interface FiguresRecorder {
  request(request: CountedRequest): void;
  payment(payment: { readonly bank: string; readonly clientId: string }): void;
  push(bank: string, result: PushResult, milliseconds: number): void;
  order(bank: string, end: OrderEnd): void;
  /** Returns what was counted in each of the last 60 minutes. */
  lastHour(): readonly MinuteFigures[];
  /** Returns the last pushes to each bank. */
  lastPushes(): readonly ProcessPushes[];
  /** Marks the minute of an instant, or the present one, of a bank or of the platform. */
  minute(name: Minute, bank?: string, at?: number): void;
  /** Stores what has changed, and returns how many rows that were. @throws {StoreFailure} */
  write(): Promise<number>;
  /** Like `write`, but at most once a minute. */
  writeSometimes(): Promise<number>;
}

/** The only subject of figures of the platform. */
export const PLATFORM = "platform";

/** Rows in memory. The figures of participants beyond it are not counted. */
const MAX_ROWS = 20_000;

const EVERY_MS = 60_000;

export interface RecorderDeps {
  readonly figures: Pick<FiguresStore, "write">;
  readonly clock: Clock;
  /** Never goes back. */
  readonly steady: SteadyClock;
  readonly metrics: Pick<PlatformMetrics, "count">;
}

/** Counts in the day of an instant, or in the present one. */
type CountOf = (of: FiguresOf, subject: string, change: (figures: Figures) => void, at?: number) => void;

export function openFiguresRecorder({ figures, clock, steady, metrics }: RecorderDeps): FiguresRecorder {
  const rows: Rows = new Map();
  const [hour, last] = [openLastHour(clock), openLastPushes(clock)];
  const count: CountOf = (of, subject, change, at = clock()) => {
    if (!countIn(rows, { of, day: dayOf(at), subject }, change)) {
      metrics.count("platform_figures_dropped_total", {});
    }
  };
  const countBoth = (bank: string, change: (figures: Figures) => void): void => {
    hour.count(change);
    count("bank", bank, change);
  };
  return {
    request({ bank, clientId, ...answer }) {
      const change = (one: Figures): void => countRequest(one, answer);
      hour.count(change);
      count("client", clientId, change);
      if (bank !== undefined) count("bank", bank, change);
    },
    payment({ bank, clientId }) {
      count("client", clientId, (one) => countOne(one, "payments"));
      countBoth(bank, (one) => countOne(one, "payments"));
    },
    push(bank, result, milliseconds) {
      countBoth(bank, (one) => countPush(one, result, milliseconds));
      if (result !== "refused") last.push(bank, { isAnswered: result === "answered", milliseconds });
    },
    order: (bank, end) => countBoth(bank, (one) => countOne(one, end)),
    lastHour: hour.minutes,
    lastPushes: last.all,
    minute: (name, bank, at = clock()) =>
      count(bank === undefined ? "platform" : "bank", bank ?? PLATFORM, (one) => {
        markMinute(one, name, at);
      }, at),
    ...openWriter(rows, { figures, clock, steady }),
  };
}

function openWriter(
  rows: Rows,
  { figures, clock, steady }: Omit<RecorderDeps, "metrics">,
): Pick<FiguresRecorder, "write" | "writeSometimes"> {
  let writtenAt = steady();
  let writing = Promise.resolve(0); // one after the other: a later one must not forget rows of one that still fails
  const write = async (): Promise<number> => {
    writtenAt = steady();
    writing = writing.catch(() => 0).then(() => writeChanged(rows, figures, dayOf(clock())));
    return await writing;
  };
  return { write, writeSometimes: async () => steady() - writtenAt < EVERY_MS ? 0 : await write() };
}

function countRequest(
  figures: Figures,
  { status, reason, milliseconds }: Pick<CountedRequest, "status" | "reason" | "milliseconds">,
): void {
  countOne(figures, status < 400 ? "succeeded" : status < 500 ? "rejected" : "failed");
  if (reason !== undefined) countReason(figures, reason);
  countTime(figures, "requests", milliseconds);
}

function countPush(figures: Figures, result: PushResult, milliseconds: number): void {
  countOne(figures, result);
  if (result === "answered") countTime(figures, "pushes", milliseconds); // a fast 503 is no fast answer
}

type Rows = Map<string, FiguresRow & { isChanged: boolean }>;

/** Returns false if there is no room. */
function countIn(
  rows: Rows,
  { of, day, subject }: Omit<FiguresRow, "figures" | "id">,
  change: (figures: Figures) => void,
): boolean {
  const name = `${of} ${day} ${subject}`;
  const row = rows.get(name) ?? newRow({ of, day, subject });
  if (rows.size >= MAX_ROWS && !rows.has(name)) return false;
  rows.set(name, row);
  row.isChanged = true;
  change(row.figures);
  return true;
}

/** With an id of its own: a clock that is put back over midnight adds a row to those of the day, and overwrites none. */
function newRow(name: Pick<FiguresRow, "of" | "day" | "subject">): FiguresRow & { isChanged: boolean } {
  return { id: crypto.randomUUID(), ...name, figures: noFigures(), isChanged: true };
}

/** Writes what has changed, and forgets the rows of earlier days. */
async function writeChanged(rows: Rows, store: Pick<FiguresStore, "write">, today: string): Promise<number> {
  const changed = [...rows.values()].filter(({ isChanged }) => isChanged);
  for (let place = 0; place < changed.length; place += MAX_ROWS_WRITTEN) {
    const batch = changed.slice(place, place + MAX_ROWS_WRITTEN);
    for (const row of batch) row.isChanged = false; // what is counted during the write belongs to the next one
    await store.write(batch).catch((error: unknown) => {
      for (const row of batch) row.isChanged = true;
      throw error;
    });
  }
  for (const [name, { day, isChanged }] of rows) if (day !== today && !isChanged) rows.delete(name);
  return changed.length;
}

// What this process counted in each of the last 60 minutes, in memory, for the operators' dashboard (contract OP24).

/** The figures of one minute, without minutes of the day. */
export interface MinuteFigures extends Pick<Figures, "counts" | "reasons" | "times"> {
  /** Since the Unix epoch. */
  readonly minute: number;
}

export const MINUTES_SHOWN = 60;

const MINUTE_MS = 60_000;

export interface LastHour {
  /** Counts in the present minute. */
  count(change: (figures: Figures) => void): void;
  /** Returns the minutes that have figures, oldest first. */
  minutes(): readonly MinuteFigures[];
}

export function openLastHour(clock: Clock): LastHour {
  const kept = new Map<number, Figures>();
  const forgetOld = (): number => {
    const now = minuteOf(clock());
    for (const minute of kept.keys()) if (!isShown(minute, now)) kept.delete(minute);
    return now;
  };
  return {
    count(change) {
      const now = minuteOf(clock());
      let figures = kept.get(now);
      if (figures === undefined) {
        figures = noFigures();
        kept.set(now, figures);
        forgetOld();
      }
      change(figures);
    },
    minutes() {
      forgetOld();
      return [...kept].map(([minute, { minutes: _, ...sums }]) => ({ minute, ...sums }))
        .toSorted((one, other) => one.minute - other.minute);
    },
  };
}

/** The minute of an instant (milliseconds), since the Unix epoch. */
export function minuteOf(at: number): number {
  return Math.floor(at / MINUTE_MS);
}

/** Whether a minute is one of the last 60 at `now`. Both are minutes since the Unix epoch. */
export function isShown(minute: number, now: number): boolean {
  return minute <= now && minute > now - MINUTES_SHOWN;
}

export interface FiguresParts {
  /** Counts what the reports by day show. */
  readonly figures: FiguresRecorder;
  readonly figuresStore: FiguresStore;
}

/** @param deps.config.reportDays how long figures are kept */
export function openFigures(
  { config, ...deps }:
    & Omit<FiguresStoreDeps & RecorderDeps, "figures" | "keepMs">
    & { readonly config: { readonly reportDays: number } },
): FiguresParts {
  const figuresStore = openFiguresStore({ ...deps, keepMs: config.reportDays * DAY_MS });
  return { figuresStore, figures: openFiguresRecorder({ ...deps, figures: figuresStore }) };
}
