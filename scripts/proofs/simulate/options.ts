/** The command line of the simulation. Reads arguments only. */
import { numberReader } from "../../command_line/option_values.ts";
import { optionsOf, UsageError } from "../../command_line/run.ts";

export interface SimulateOptions {
  /** How many seeds. */
  readonly seeds: number;
  readonly first: number;
  /** No run begins after this many seconds. */
  readonly seconds: number;
  /** Whether signatures and encryption are real. */
  readonly hasRealCrypto: boolean;
  /** One run alone, with its trace, without these payments and faults. */
  readonly only?: { readonly seed: number; readonly without: readonly string[] };
}

/** The text of `--help`. */
export const usage =
  `Runs the platform among simulated TPPs, customers, banks and a directory. A seed decides its clock,
network, store and kills. Checks every commit and every answer.

Usage: deno task simulate [options]

  --seeds N     how many seeds (default 1000)
  --first F     the first of them (default: a random one, which is printed)
  --seconds T   begin no seed after so many seconds (default: no limit)
  --seed S      one seed, with everything that happens in it
  --without L   with --seed: leave these payments and faults out, such as p1,f0
  --crypto C    fast (default), or real: with RSA and AES-GCM, and several times slower

A seed that fails is run again without this and that payment or fault as long as it still fails. What is
left is printed with the command that repeats it.

Exit status: 0 every seed held, 1 one did not, 2 the options are wrong.
`;

const MOST_SEEDS = 2_000_000_000;
const LIMITS = { seeds: MOST_SEEDS, first: MOST_SEEDS, seconds: 10_000_000, seed: 2 * MOST_SEEDS } as const;
const DEFAULT_SEEDS = 1000;

/** The options. @throws {UsageError} */
export function readSimulateOptions(args: readonly string[]): SimulateOptions {
  const given = optionsOf(args, ["seeds", "first", "seconds", "seed", "without", "crypto"]);
  const number = numberReader(given, LIMITS);
  const without = given.without?.split(",");
  if (without !== undefined && given.seed === undefined) throw new UsageError("--without needs --seed");
  const { crypto: profile = "fast" } = given;
  if (profile !== "fast" && profile !== "real") throw new UsageError("--crypto is fast or real");
  const random = (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % MOST_SEEDS;
  return {
    seeds: number("seeds", DEFAULT_SEEDS),
    first: number("first", random),
    seconds: number("seconds", LIMITS.seconds),
    hasRealCrypto: profile === "real",
    ...(given.seed === undefined ? {} : { only: { seed: number("seed", 0), without: without ?? [] } }),
  };
}
