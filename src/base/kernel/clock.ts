/** Time comes from here alone, so that a test or the sandbox can move it. */

/** The current time in milliseconds since the Unix epoch. */
export type Clock = () => number;

/** The computer's own clock. */
export const systemClock: Clock = (): number => Date.now();

/** Whole milliseconds since the process began. Never stepped, but it may stand still while the computer sleeps. */
export const monotonicClock: Clock = (): number => Math.floor(performance.now());

/** A clock's reading in whole Unix seconds, as JWT times are written (RFC 7519 §2, NumericDate). */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** `2026-01-31T12:00:00+00:00`: whole seconds with an explicit offset, as resource answers write times. */
export function wireDateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, "+00:00");
}
