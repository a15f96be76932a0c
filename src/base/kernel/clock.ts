/** The only source of time, so that a test or the sandbox can move it. */
import { FUTURE_SKEW_SECONDS } from "../limits.ts";

/** Names the clock of an instant. No value has this property. */
declare const ofClock: unique symbol;

/**
 * Milliseconds of one clock. The compiler takes no instant of one clock for another's. A plain number, such as the sum
 * of an instant and a duration, fits every clock.
 */
type Instant<C extends string> = number & { readonly [ofClock]?: C };

/** Milliseconds since the Unix epoch. The only instants that others see and that the store keeps. */
export type WallTime = Instant<"wall">;
/** Of one process ({@link steadyClock}). Never stored: its clock may stay ahead of others for ever. */
export type SteadyTime = Instant<"steady">;
/** Milliseconds since an arbitrary moment of one process. Never stored. */
export type MonotonicTime = Instant<"monotonic">;
/** Of the ages of stored values (base/store/age_clock.ts). */
export type AgesTime = Instant<"ages">;

export type Clock = () => WallTime;
export type SteadyClock = () => SteadyTime;
export type MonotonicClock = () => MonotonicTime;
export type AgesClock = () => AgesTime;

/** The computer's clock. NTP, an operator or a restored virtual machine can step it. */
export const systemClock: Clock = (): WallTime => Date.now();

/** Whole milliseconds since the process started. Never stepped, but it may stop while the computer sleeps. */
export const monotonicClock: MonotonicClock = (): MonotonicTime => Math.floor(performance.now());

/** Like {@link monotonicClock}, with fractions: for durations that are only reported. */
export const preciseClock: MonotonicClock = (): MonotonicTime => performance.now();

/**
 * A clock for ages and waits within one process. It follows `clock` until that is put back, then continues at the
 * pace of `monotonic`. It never goes back. After `clock` was put back,
 * it does not count a sleep of the computer up to that step, because `monotonic` may stand still then.
 */
export function steadyClock(clock: Clock, monotonic: MonotonicClock): SteadyClock {
  let ahead = -Infinity; // of the monotonic clock
  return () => {
    const now = monotonic();
    ahead = Math.max(ahead, clock() - now);
    return now + ahead;
  };
}

/** Tolerated difference between the clocks of two parties, milliseconds. */
export const MAX_SKEW_MS = FUTURE_SKEW_SECONDS * 1000;

/**
 * Largest difference between the clocks of two processes of one platform, milliseconds. An operator keeps it with NTP
 * (docs/clocks.md), and a process whose clock is further behind logs an alarm.
 */
export const MAX_PROCESS_SKEW_MS = 2000;

/** An attempt that takes longer from its begin, before it reads the clock, is not committed (`base/store/transaction.ts`). */
export const ATTEMPT_WITHIN_MS = 10_000;
/**
 * A commit takes effect within this time, milliseconds, or never. Deno KV waits up to 11 s, and PostgreSQL less than 18 s,
 * but without limit for a synchronous standby (docs/operations/postgresql.md). A reader of a list in the order of time waits
 * this long, and the difference between two processes' clocks, for entries that were committed late.
 */
export const COMMIT_WITHIN_MS = 18_000;

/**
 * Whether a deadline (milliseconds) that was set at most `longestSeconds` ahead has yet to pass. If it is further ahead,
 * the clock has been put back since, and the deadline counts as passed.
 */
export function isYetToPass(deadline: number, now: number, longestSeconds: number): boolean {
  return now < deadline && deadline - now <= longestSeconds * 1000 + MAX_SKEW_MS;
}

/** Converts milliseconds to whole Unix seconds, as JWT times are written (RFC 7519 §2, NumericDate). */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** Formats a time as resource responses do: `2026-01-31T12:00:00+00:00`, whole seconds with an explicit offset. */
export function wireDateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "+00:00");
}
