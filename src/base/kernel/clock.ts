/** Time comes from here alone, so that a test or the sandbox can move it. */
import { FUTURE_SKEW_SECONDS } from "../limits.ts";

/** The current time in milliseconds since the Unix epoch. */
export type Clock = () => number;

/** The computer's own clock. It can be stepped: by NTP, by an operator, by a restored virtual machine. */
export const systemClock: Clock = (): number => Date.now();

/** Whole milliseconds since the process began. Never stepped, but it may stand still while the computer sleeps. */
export const monotonicClock: Clock = (): number => Math.floor(performance.now());

/**
 * A clock for ages and waits within one process: it shows `clock`'s time until that is put back, and then goes on at
 * the pace of `monotonic`. It never goes back, and advances at least as far as each of the two.
 */
export function steadyClock(clock: Clock, monotonic: Clock): Clock {
  let ahead = -Infinity; // of the monotonic clock
  return () => {
    const now = monotonic();
    ahead = Math.max(ahead, clock() - now);
    return now + ahead;
  };
}

/** The clocks of two processes may differ by this, milliseconds. */
export const MAX_SKEW_MS = FUTURE_SKEW_SECONDS * 1000;

/**
 * Whether a deadline has yet to pass that was set at most `longestMs` ahead. One further ahead was set by a clock that
 * has been put back since: it counts as passed.
 */
export function isYetToPass(deadline: number, now: number, longestMs: number): boolean {
  return now < deadline && deadline - now <= longestMs + MAX_SKEW_MS;
}

/** A clock's reading in whole Unix seconds, as JWT times are written (RFC 7519 §2, NumericDate). */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** `2026-01-31T12:00:00+00:00`: whole seconds with an explicit offset, as resource answers write times. */
export function wireDateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "+00:00");
}
