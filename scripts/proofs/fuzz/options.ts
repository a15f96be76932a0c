/** Parses the command line of the fuzzer. */
import { numberReader, readSeed } from "../../command_line/option_values.ts";
import { optionsOf } from "../../command_line/run.ts";

export interface FuzzOptions {
  readonly seed: number;
  /** Number of mutations; with `seconds`, the maximum. */
  readonly mutations: number;
  /** Stops after this time. */
  readonly seconds: number;
  /** Number of the first mutation. Each depends only on the seed and its number. */
  readonly first: number;
  /** Only targets whose name contains this text. */
  readonly only: string;
}

/** The text of `--help`. */
export const usage =
  `Mutates valid requests, tokens, signatures, forms, headers and bodies against a platform and a directory
in this process, and looks for answers of 5xx, forgeries that are taken, and rejections that change something.

Usage: deno task fuzz [options]

  --mutations M  how many (default 10000, or without end where --seconds is given)
  --seconds N    stop after N seconds
  --seed S       a number that decides all that is decided; printed, to be given again (default: a random one)
  --first F      begin with mutation number F (default 0)
  --only TEXT    only targets whose name holds TEXT

Exit status: 0 nothing was found, 1 something was, 2 the options are wrong.
`;

const LIMITS = { mutations: 10_000_000, seconds: 86_400, first: 10_000_000 };

/** The options. @throws {UsageError} */
export function readFuzzOptions(args: readonly string[]): FuzzOptions {
  const given = optionsOf(args, ["mutations", "seconds", "seed", "first", "only"]);
  const number = numberReader(given, LIMITS);
  return {
    seed: readSeed(given.seed),
    mutations: number("mutations", given.seconds === undefined ? 10_000 : LIMITS.mutations),
    seconds: number("seconds", LIMITS.seconds),
    first: number("first", 0),
    only: given.only ?? "",
  };
}
