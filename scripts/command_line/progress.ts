/**
 * Progress of long work on the standard error: on a terminal one line that is drawn again, elsewhere a plain line now and
 * then.
 */
import { printError } from "./print.ts";

/** The progress of one piece of work. Disposing takes the drawn line away. */
export interface Progress extends Disposable {
  /**
   * So many are done.
   *
   * @param share of the whole work, 0 to 1, if it is not that of the count
   */
  done(count: number, share?: number): void;
  /** Runs something that prints, above the drawn line. */
  above(print: () => void): void;
}

/** Where progress is shown. */
export interface ProgressTools {
  readonly isTerminal: boolean;
  /** Writes text to a terminal. */
  readonly draw: (text: string) => void;
  /** Prints a line elsewhere. */
  readonly print: (line: string) => void;
  /** Milliseconds. */
  readonly now: () => number;
}

const REDRAW_MS = 200;
const LINE_MS = 30_000;
const ERASE = "\r\x1b[2K";

const standardError: ProgressTools = {
  get isTerminal() {
    return Deno.stderr.isTerminal();
  },
  draw: (text) => void Deno.stderr.writeSync(new TextEncoder().encode(text)),
  print: printError,
  now: () => performance.now(),
};

/**
 * Begins.
 *
 * @param unit what is counted, such as `payments`
 * @param total how many there will be; undefined if that is not known
 */
export function openProgress(
  unit: string,
  total: number | undefined,
  { isTerminal, draw, print, now }: ProgressTools = standardError,
): Progress {
  const began = now();
  let shown = isTerminal ? -Infinity : began;
  let drawn = "";
  const erase = (): void => {
    if (drawn !== "") draw(ERASE);
  };
  return {
    done(count, share = total === undefined ? undefined : count / total) {
      const time = now();
      if (time - shown < (isTerminal ? REDRAW_MS : LINE_MS)) return;
      shown = time;
      const text = progressText(unit, { count, total, share, seconds: (time - began) / 1000 });
      if (isTerminal) draw(`${ERASE}${drawn = text}`);
      else print(text);
    },
    above(work) {
      erase();
      work();
      draw(drawn);
    },
    [Symbol.dispose]() {
      erase();
      drawn = "";
    },
  };
}

/** One line, such as `payments  1,240 of 5,000 (24 %)  41/s  1:32 left`. */
export function progressText(
  unit: string,
  { count, total, share, seconds }: {
    readonly count: number;
    readonly total: number | undefined;
    readonly share: number | undefined;
    readonly seconds: number;
  },
): string {
  const number = (value: number): string => value.toLocaleString("en");
  const parts = [`${unit}  ${number(count)}${total === undefined ? "" : ` of ${number(total)}`}`];
  if (share !== undefined) parts[0] += ` (${Math.floor(share * 100)} %)`;
  if (count > 0 && seconds > 0) parts.push(rateText(count / seconds));
  if (share !== undefined && share > 0 && share <= 1) {
    parts.push(`${clockText(seconds / share - seconds)} left`);
  }
  return parts.join("  ");
}

function rateText(perSecond: number): string {
  if (perSecond >= 10) return `${Math.round(perSecond).toLocaleString("en")}/s`;
  return perSecond >= 1 ? `${perSecond.toFixed(1)}/s` : `${(perSecond * 60).toFixed(1)}/min`;
}

function clockText(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, "0");
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
}
