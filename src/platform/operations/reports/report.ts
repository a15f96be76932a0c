/** Builds reports from the figures of days: per participant, for each day and in total. */
import {
  common,
  type Count,
  COUNTS,
  DAY_MS,
  dayOf,
  type Figures,
  noFigures,
  type Time,
  united,
} from "../../observed/figures/figures.ts";
import { PLATFORM } from "../../observed/figures/recorder.ts";
import type { DayFigures, FiguresStore } from "../../observed/figures/figures_store.ts";

/** Minutes of one or several days. */
export interface MinuteNumbers {
  /** In which a process of the platform has looked at the banks. */
  readonly observed: number;
  readonly held: number;
  readonly outage: number;
  /** In which the bank did not answer orders. */
  readonly down: number;
  /** Held, in an outage or down. A minute that is two of them counts once. */
  readonly unavailable: number;
}

/** The sums of one or several days. */
export interface Sums {
  readonly counts: Readonly<Record<Count, number>>;
  /** Requests that did not succeed, by the reason of the error catalogue. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Numbers by bucket of times. */
  readonly times: Readonly<Record<Time, readonly number[]>>;
  readonly minutes: MinuteNumbers;
}

/** Whom a report is about. */
export interface Subject {
  /** Bank code or client id. */
  readonly id: string;
  readonly name: string;
  /** Milliseconds. Every day from it on is reported, and others that have figures. Undefined if it is not registered. */
  readonly registeredAt: number | undefined;
}

export interface Report {
  readonly subject: Subject;
  readonly total: Sums;
  /** Oldest first. */
  readonly days: readonly { readonly day: string; readonly sums: Sums }[];
}

/** Longest time of one report. */
export const MAX_DAYS = 92;

/** Returns the days from the first to the last, both included. */
export function daysOf(from: string, until: string): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(until)];
  const number = Math.max(0, Math.min(MAX_DAYS, Math.floor((last - first) / DAY_MS) + 1));
  return Array.from({ length: number }, (_, place) => dayOf(first + place * DAY_MS));
}

/** Returns a report for each subject. @throws {StoreFailure} */
export async function reportsOf(
  figures: Pick<FiguresStore, "readDay">,
  of: "bank" | "client",
  subjects: readonly Subject[],
  days: readonly string[],
): Promise<readonly Report[]> {
  const read: (readonly [day: string, found: DayFigures, observed: Uint8Array | undefined])[] = [];
  for (const day of days) {
    const [found, platform] = await Promise.all([
      figures.readDay(of, day, subjects.map(({ id }) => id)),
      figures.readDay("platform", day),
    ]);
    read.push([day, found, platform.get(PLATFORM)?.minutes.observed]);
  }
  return subjects.map((subject) => {
    const { id, registeredAt } = subject;
    const isShown = (day: string, found: DayFigures): boolean =>
      found.has(id) || registeredAt !== undefined && day >= dayOf(registeredAt);
    const shown = read.filter(([day, found]) => isShown(day, found)).map(([day, found, observed]) => {
      return { day, sums: sumsOf(found.get(id) ?? noFigures(), observed) };
    });
    return { subject, total: shown.map(({ sums }) => sums).reduce(addSums, NOTHING), days: shown };
  });
}

/** The part of the observed minutes in which a bank was available. Undefined if none was observed. */
export function availability({ minutes: { observed, unavailable } }: Sums): number | undefined {
  return observed === 0 ? undefined : (observed - unavailable) / observed;
}

/** The part of the requests that succeeded. Undefined without requests. */
export function successRate({ counts: { succeeded, rejected, failed } }: Sums): number | undefined {
  const all = succeeded + rejected + failed;
  return all === 0 ? undefined : succeeded / all;
}

/** The part of the orders that the bank answered, at the first push or later. Undefined without orders. */
export function answerRate({ counts }: Sums): number | undefined {
  const all = ordersOf(counts);
  return all === 0 ? undefined : (counts.answeredAtFirst + counts.answeredLater) / all;
}

/** Orders that came to an end: answered or given up. */
export function ordersOf({ answeredAtFirst, answeredLater, givenUp }: Sums["counts"]): number {
  return answeredAtFirst + answeredLater + givenUp;
}

export function pushesOf({ answered, refused, unclear, unreachable }: Sums["counts"]): number {
  return answered + refused + unclear + unreachable;
}

function sumsOf({ counts, reasons, times, minutes }: Figures, observed: Uint8Array | undefined): Sums {
  const { held, outage, down } = minutes;
  return {
    counts: Object.fromEntries(COUNTS.map((name) => [name, counts[name] ?? 0])) as Sums["counts"],
    reasons,
    times: { requests: times.requests ?? [], pushes: times.pushes ?? [] },
    minutes: {
      observed: common(observed, observed),
      held: common(held, observed),
      outage: common(outage, observed),
      down: common(down, observed),
      unavailable: common(united(united(held, outage), down), observed),
    },
  };
}

const NOTHING: Sums = sumsOf(noFigures(), undefined);

function addSums(one: Sums, other: Sums): Sums {
  const longer = (a: readonly number[], b: readonly number[]): readonly number[] =>
    Array.from({ length: Math.max(a.length, b.length) }, (_, place) => (a[place] ?? 0) + (b[place] ?? 0));
  return {
    counts: sum(one.counts, other.counts),
    reasons: sum(one.reasons, other.reasons),
    times: {
      requests: longer(one.times.requests, other.times.requests),
      pushes: longer(one.times.pushes, other.times.pushes),
    },
    minutes: sum(one.minutes, other.minutes),
  };
}

function sum<T extends Readonly<Record<string, number>> | MinuteNumbers>(one: T, other: T): T {
  const all: Record<string, number> = { ...one };
  for (const [name, number] of Object.entries(other)) all[name] = (all[name] ?? 0) + number;
  return all as T;
}
