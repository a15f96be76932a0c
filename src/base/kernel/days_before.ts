/** The days before the end of something, at which people are told of it. */

const DAY_MS = 86_400_000;

/**
 * Returns the smallest of `days` that is not shorter than the time left. Undefined if the end is farther away than all
 * of them, or has passed.
 *
 * @param endsAt milliseconds
 * @param now milliseconds
 */
export function daysBefore(endsAt: number, days: readonly number[], now: number): number | undefined {
  if (now >= endsAt) return undefined;
  const due = days.filter((each) => endsAt - now <= each * DAY_MS);
  return due.length === 0 ? undefined : Math.min(...due);
}
