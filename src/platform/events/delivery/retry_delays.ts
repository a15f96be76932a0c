/** When a message that a receiver has not taken is pushed again (Decisions D4, T2). No I/O. */
import { MAX_SKEW_MS, type WallTime } from "../../../base/kernel/clock.ts";
import { ORDER_RETRY_SECONDS } from "../../../base/profile.ts";

/** Longest delay of a message ({@link retryAt}). */
const LONGEST_WAIT_MS = Math.max(...ORDER_RETRY_SECONDS) * 1250;

/** Returns the latest possible `dueAt`. A message with a later one has it from a clock that was ahead of this one, and is due. */
export function latestDueAt(now: WallTime): WallTime {
  return now + LONGEST_WAIT_MS + MAX_SKEW_MS;
}

/** Whether a message with this `dueAt` is due at `now`. */
export function isDue(dueAt: WallTime, now: WallTime): boolean {
  return dueAt <= now || dueAt > latestDueAt(now);
}

/**
 * Returns when the message is due again (ms): after 1, 2, 4 … 512 s, or later if the receiver asked for that (at most
 * 512 s), plus up to a quarter more. Returns undefined after the last of these delays.
 *
 * @param failures number of failed pushes before this one
 */
export function retryAt(
  failures: number,
  retryAfterSeconds: number,
  now: WallTime,
  random: () => number,
): WallTime | undefined {
  const wait = ORDER_RETRY_SECONDS[failures];
  if (wait === undefined) return undefined;
  const seconds = Math.max(wait, boundedPauseSeconds(retryAfterSeconds));
  return now + Math.round(seconds * 1000 * (1 + random() / 4));
}

/** Returns the delay that the receiver asked for, at most 512 s. */
export function boundedPauseSeconds(retryAfterSeconds: number): number {
  return Math.min(retryAfterSeconds, ORDER_RETRY_SECONDS.at(-1) ?? 0);
}

/**
 * Parses `Retry-After` (RFC 9110 §10.2.3), in seconds or as a date. Returns undefined if it is absent or malformed.
 * The caller bounds the value.
 *
 * @param now milliseconds
 */
export function secondsUntil(retryAfter: string | null, now: number): number | undefined {
  const value = retryAfter?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = Math.ceil((Date.parse(value) - now) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
