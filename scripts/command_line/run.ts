/** Shared parsing of the tasks' command lines. */
import { parseArgs } from "node:util";
import { printLine } from "./print.ts";

/** A command line that cannot be obeyed; `message` says which part. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Runs a program and ends the process: with 0, with the status that `run` returns, or with 1 if it returns false or throws. The message of an error is
 * its only output.
 *
 * @param run gets a function that prints a line
 * @param usageStatus exit status after a {@link UsageError}
 */
export async function runProgram(
  run: (print: (line: string) => void) => Promise<boolean | number | void>,
  usageStatus: 1 | 2 = 2,
): Promise<never> {
  const encoder = new TextEncoder();
  try {
    const done = await run(printLine);
    return Deno.exit(typeof done === "number" ? done : done === false ? 1 : 0);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(encoder.encode(`${words}\n`));
    return Deno.exit(error instanceof UsageError ? usageStatus : 1);
  }
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
  return parsedOptions(args, options) as Options<Name, Switch>;
}

/**
 * Reads declared options.
 *
 * @throws {UsageError} if an option is unknown or has no value, or an argument is not an option
 */
export function parsedOptions(
  args: readonly string[],
  options: Readonly<Record<string, { readonly type: "string" | "boolean" }>>,
): Readonly<Record<string, string | boolean | undefined>> {
  try {
    return parseArgs({ args: withKids(args), options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const why = error instanceof Error ? error.message.split(".")[0] : String(error);
    throw new UsageError(`${why}; --help lists the options.`);
  }
}

/** A kid is base64url, so one in 64 begins with `-`. `parseArgs` takes such a value only behind `=`. */
function withKids(args: readonly string[]): string[] {
  return args.flatMap((arg, at) => {
    if (args[at - 1] === "--kid" && isKidWithDash(arg)) return [];
    const next = args[at + 1];
    return arg === "--kid" && next !== undefined && isKidWithDash(next) ? [`--kid=${next}`] : [arg];
  });
}

/** A kid is the SHA-1 or SHA-256 of a certificate or a key: 27 or 43 characters. */
function isKidWithDash(text: string): boolean {
  return /^-(?:[\w-]{26}|[\w-]{42})$/.test(text);
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
