/** Values of options: whole numbers, times, words and commands. A value that cannot be used throws {@link UsageError}. */
import { unknownCommand, UsageError } from "./run.ts";

/** Options by name: a text, or true for a switch. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** A whole number from `least` to `most`. @throws {UsageError} */
export function wholeNumber(name: string, text: string, most: number, least = 0): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= most && Number(text) >= least) return Number(text);
  const from = least === 0 ? "" : ` from ${least}`;
  throw new UsageError(`--${name} must be a whole number${from} up to ${most}`);
}

/**
 * Reads options that are whole numbers.
 *
 * @param most the highest value of each
 */
export function numberReader<Name extends string>(
  given: { readonly [name in NoInfer<Name>]?: string },
  most: Readonly<Record<Name, number>>,
): (name: Name, byDefault: number, least?: number) => number {
  return (name, byDefault, least) => {
    const text: string | undefined = given[name];
    return text === undefined ? byDefault : wholeNumber(name, text, most[name], least);
  };
}

const MAX_SEED = 2 ** 31 - 1;

/** The seed that was given, or a random one. @throws {UsageError} */
export function readSeed(text: string | undefined): number {
  if (text !== undefined) return wholeNumber("seed", text, MAX_SEED);
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % MAX_SEED;
}

/** One of the words that an option can have. @throws {UsageError} */
export function oneOf<Word extends string>(
  name: string,
  value: string | boolean | undefined,
  words: readonly Word[],
): Word {
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  const list = words.length === 1 ? words[0] : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  throw new UsageError(`--${name} must be ${list}.`);
}

/** The text of an option that a command needs. @throws {UsageError} */
export function required(values: Values, name: string): string {
  const value = values[name];
  if (typeof value === "string" && value !== "") return value;
  throw new UsageError(`--${name} is missing; --help lists the options.`);
}

/** The length of a new RSA key. @throws {UsageError} */
export function keyBits(value: string | boolean | undefined): number {
  return Number(oneOf("bits", value ?? "2048", ["2048", "3072", "4096"]));
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A time such as 90s, 15m, 24h or 7d, in seconds; undefined for other texts. */
export function durationSeconds(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_SECONDS[unit] ?? 0);
}

/** The time that an option has, in seconds. @throws {UsageError} */
export function optionSeconds(values: Values, name: string, byDefault: string): number {
  const duration = durationSeconds(String(values[name] ?? byDefault));
  if (duration === undefined) throw new UsageError(`--${name} must be a time such as 90s, 15m, 24h or 7d.`);
  return duration;
}

/** The command of a command line, its first word, and the arguments behind it. @throws {UsageError} */
export function splitCommand<Verb extends string>(
  [verb, ...rest]: readonly string[],
  commands: Readonly<Record<Verb, unknown>>,
  usage: string,
): { readonly verb: Verb; readonly rest: readonly string[] } {
  if (verb === undefined) throw new UsageError(usage);
  const known = Object.keys(commands) as Verb[];
  const found = known.find((name) => name === verb);
  if (found === undefined) throw unknownCommand(verb, known);
  return { verb: found, rest };
}
