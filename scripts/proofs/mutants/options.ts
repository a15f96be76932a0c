/** Parses the command line of the mutants. */
import { readSeed, wholeNumber } from "../../command_line/option_values.ts";
import { optionsOf, UsageError } from "../../command_line/run.ts";
import { seeded } from "../prove/random.ts";
import type { Mutant } from "./mutant.ts";

/** The text of `--help`. */
export const usage = `Plants one fault at a time in a copy of the tree and runs the tests that must catch it.

Usage: deno task mutants [options]

  --only A,B     only the mutants of these names
  --sample N     only N of them, chosen at random
  --seed S       a number that decides the sample; printed, to be given again (default: a random one)

Exit status: 0 every fault was caught, 1 one survived or could not be tried, 2 the options are wrong.
`;

/** Which mutants to try. */
export interface Chosen {
  readonly mutants: readonly Mutant[];
  /** Of the sample, if one was asked for. */
  readonly seed?: number;
}

/** The mutants to try. @throws {UsageError} */
export function choose(args: readonly string[], all: readonly Mutant[]): Chosen {
  const { only, sample, seed } = optionsOf(args, ["only", "sample", "seed"]);
  const named = only === undefined ? all : only.split(",").map((name) => mutantOf(name, all));
  if (sample === undefined) {
    if (seed !== undefined) throw new UsageError("--seed needs --sample");
    return { mutants: named };
  }
  const count = wholeNumber("sample", sample, all.length);
  const chosenSeed = readSeed(seed);
  return { mutants: shuffle(named, chosenSeed).slice(0, count), seed: chosenSeed };
}

function mutantOf(name: string, all: readonly Mutant[]): Mutant {
  const found = all.find((mutant) => mutant.name === name);
  if (found === undefined) throw new UsageError(`--only: there is no mutant ${name}`);
  return found;
}

/** In an order that the seed decides. */
export function shuffle<Item>(items: readonly Item[], seed: number): readonly Item[] {
  const random = seeded(seed, "mutants");
  return items.map((item) => ({ item, at: random.below(2 ** 31) }))
    .sort((one, other) => one.at - other.at).map(({ item }) => item);
}
