/** What this process counted in each of the last 60 minutes, in memory, for the operators' dashboard (contract OP24). */
import type { Clock } from "../../../base/kernel/clock.ts";
import { type Figures, noFigures } from "./figures.ts";

/** The figures of one minute, without minutes of the day. */
export interface MinuteFigures extends Pick<Figures, "counts" | "times"> {
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
      return [...kept].map(([minute, { counts, times }]) => ({ minute, counts, times }))
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
