/** Shared parsing of the tasks' command lines. */
import { parseArgs } from "node:util";
import { closest, distance } from "fastest-levenshtein";
import { CommandLineFault, exitStatusOf } from "../../src/base/kernel/command_line_fault.ts";
import { printError, printLine } from "./print.ts";

/** A command line that cannot be obeyed; `message` says which part. */
export class UsageError extends CommandLineFault {
  override readonly name = "UsageError";
}

/**
 * Runs the program of a task with the arguments of its command line and ends the process: with 0, with the status that
 * `run` returns, with 1 if it returns false or throws, with 2 after a {@link UsageError}. The message of an error is its
 * only output, on standard error.
 *
 * @param usage printed for `--help`; undefined if the program answers that itself
 * @param run gets the arguments and a function that prints a line
 */
export async function runProgram(
  usage: string | undefined,
  run: (args: readonly string[], print: (line: string) => void) => Promise<boolean | number | void>,
): Promise<never> {
  try {
    if (usage !== undefined && Deno.args.some((arg) => arg === "--help" || arg === "-h")) {
      printLine(usage.trimEnd());
      return Deno.exit(0);
    }
    const done = await run(Deno.args, printLine);
    return Deno.exit(typeof done === "number" ? done : done === false ? 1 : 0);
  } catch (error) {
    printError(describeError(error));
    return Deno.exit(exitStatusOf(error));
  }
}

/** The system's error about a file, as Deno and as its `node:fs` word it. */
const FILE_ERROR = /^(?:ENOENT: )?no such file or directory.*(?:: readfile|, open) '(.+)'$/i;

/** A fault of the program itself has its place and its cause, other errors have their sentence. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [, missing] = FILE_ERROR.exec(error.message) ?? [];
  if (missing !== undefined) return `The file ${missing} does not exist.`;
  const isFault = [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind);
  return isFault ? Deno.inspect(error) : error.message;
}

/** Runs a program without options. */
export async function runPlain(
  usage: string,
  run: (print: (line: string) => void) => Promise<boolean | number | void>,
): Promise<never> {
  return await runProgram(usage, (args, print) => {
    optionsOf(args, []);
    return run(print);
  });
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
  return parsedOptions(args, typesOf(names, switches)) as Options<Name, Switch>;
}

/**
 * Reads words and options in any order.
 *
 * @throws {UsageError} if an option is unknown or has no value
 */
export function wordsAndOptions(
  args: readonly string[],
  { names, switches }: { readonly names: readonly string[]; readonly switches: readonly string[] },
): { readonly words: readonly string[]; readonly given: Given } {
  const { positionals, values } = parseArguments(args, typesOf(names, switches), true);
  return { words: positionals, given: values };
}

/** Options by name: a text, or true for a switch. */
type Given = Readonly<Record<string, string | boolean | undefined>>;
type OptionTypes = Readonly<Record<string, { readonly type: "string" | "boolean" }>>;

function typesOf(names: readonly string[], switches: readonly string[]): OptionTypes {
  return Object.fromEntries([
    ...names.map((name) => [name, { type: "string" as const }]),
    ...switches.map((name) => [name, { type: "boolean" as const }]),
  ]);
}

/**
 * Reads declared options.
 *
 * @throws {UsageError} if an option is unknown or has no value, or an argument is not an option
 */
export function parsedOptions(args: readonly string[], options: OptionTypes): Given {
  return parseArguments(args, options, false).values;
}

function parseArguments(
  args: readonly string[],
  options: OptionTypes,
  allowPositionals: boolean,
): { readonly values: Given; readonly positionals: string[] } {
  try {
    return parseArgs({ args: joinHashes(args, options), options, strict: true, allowPositionals });
  } catch (error) {
    const why = error instanceof Error ? error.message.split(".")[0] ?? "" : String(error);
    const unknown = /^Unknown option '(--[^']+)'/.exec(why)?.[1];
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new UsageError(
      `${why}${unknown === undefined ? ";" : suggestion(unknown, known)} --help lists the options.`,
    );
  }
}

/** The error of a command that does not exist. */
export function unknownCommand(given: string, known: readonly string[]): UsageError {
  return new UsageError(`There is no command ${given}${suggestion(given, known)} --help lists them.`);
}

/** The error of a command line without options that the command needs. */
export function missingOptions(...names: readonly string[]): UsageError {
  return new UsageError(`Missing: ${names.map((name) => `--${name}`).join(", ")}; --help lists the options.`);
}

/** Letters that may differ from what was meant. */
const MOST_TYPOS = 3;

/** Returns how the sentence goes on. */
function suggestion(given: string, known: readonly string[]): string {
  const near = known.length === 0 ? "" : closest(given, known);
  const isNear = distance(given, near) <= Math.min(MOST_TYPOS, near.length / 2.5);
  return isNear ? `. Did you mean ${near}?` : ";";
}

/** A hash in base64url begins with `-` once in 64 times. `parseArgs` takes such a value only behind `=`. */
function joinHashes(args: readonly string[], options: OptionTypes): string[] {
  const takesHash = (at: number): boolean => {
    const [option = "", value = ""] = args.slice(at, at + 2);
    const isTaken = option.startsWith("--") && options[option.slice(2)]?.type === "string";
    return isTaken && isHashWithDash(value) && !Object.hasOwn(options, value.slice(2));
  };
  return args.flatMap((arg, at) => {
    if (at > 0 && takesHash(at - 1)) return [];
    return takesHash(at) ? [`${arg}=${args[at + 1]}`] : [arg];
  });
}

/** The SHA-1 or SHA-256 of a certificate or a key, as a kid or by itself: 27 or 43 characters. */
function isHashWithDash(text: string): boolean {
  return /^-(?:[\w-]{26}|[\w-]{42})$/.test(text);
}
