/** Shared parsing of the tasks' command lines. */
import { parseArgs } from "node:util";

/** A command line that cannot be obeyed; `message` says which part. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The options of a command line: texts by name, and switches that were given. */
export type Options<Name extends string, Switch extends string> =
  & { readonly [name in Name]?: string }
  & { readonly [name in Switch]?: boolean };

/**
 * Reads `--name value` or `--name=value`, and switches without a value.
 *
 * @throws {UsageError} if an option is unknown or has no value, or an argument is not an option
 */
export function optionsOf<Name extends string, Switch extends string = never>(
  args: readonly string[],
  names: readonly Name[],
  switches: readonly Switch[] = [],
): Options<Name, Switch> {
  const options = Object.fromEntries([
    ...names.map((name) => [name, { type: "string" as const }]),
    ...switches.map((name) => [name, { type: "boolean" as const }]),
  ]);
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false });
    return values as Options<Name, Switch>;
  } catch (error) {
    const why = error instanceof Error ? error.message.split(".")[0] : String(error);
    throw new UsageError(`${why}; --help lists the options.`);
  }
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
