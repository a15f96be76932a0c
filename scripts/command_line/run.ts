/** Shared parsing of the tasks' command lines. */

/** A command line that cannot be obeyed; `message` says which part. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The `--name value` pairs, by name. @throws {UsageError} for what is none of the names, or has no value */
export function optionsOf(args: readonly string[], names: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (let at = 0; at < args.length; at += 2) {
    const name = args[at]?.replace(/^--/, "") ?? "";
    const value = args[at + 1];
    if (!args[at]?.startsWith("--") || !names.includes(name) || value === undefined) {
      throw new UsageError(`Unknown option, or one without a value: ${args[at]}`);
    }
    given.set(name, value);
  }
  return given;
}

/** A whole number from 0 to `most`. @throws {UsageError} */
export function wholeNumber(name: string, text: string, most: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= most) return Number(text);
  throw new UsageError(`--${name} must be a whole number up to ${most}`);
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A time such as 90s, 15m, 24h or 7d, in seconds; undefined for other texts. */
export function durationSeconds(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_SECONDS[unit] ?? 0);
}
