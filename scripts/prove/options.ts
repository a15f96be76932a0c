/** Parses the command line of the prover. */
import { optionsOf, UsageError, wholeNumber } from "../command_line/run.ts";

export interface ProveOptions {
  readonly payments: number;
  readonly seed: number;
  readonly kills: number;
}

/** Printed for `--help` and after a {@link UsageError}. */
export const usage =
  `Makes payments in a sandbox of its own, with parallel duplicates, dropped answers, banks that go
wrong and kills of the whole process, then compares everybody's books.

Usage: deno task prove [options]

  --payments N   how many payments, 8 at a time (default 100)
  --kills K      how often the whole sandbox is killed meanwhile (default 3)
  --seed S       a number that decides all that is decided; printed, to be given again (default: a random one)
  --help         print this

Exit status: 0 everything held, 1 something did not, 2 the options are wrong.
`;

const LIMITS = { payments: 100_000, kills: 1000, seed: 2 ** 31 - 1 } as const;

/** The options, or undefined where help is wanted. @throws {UsageError} */
export function readProveOptions(args: readonly string[]): ProveOptions | undefined {
  const given = optionsOf(args, ["payments", "kills", "seed"], ["help"]);
  if (given.help) return undefined;
  const number = (name: keyof typeof LIMITS, byDefault: number): number => {
    const text = given[name];
    return text === undefined ? byDefault : wholeNumber(name, text, LIMITS[name]);
  };
  const random = (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % LIMITS.seed;
  const options = {
    payments: number("payments", 100),
    kills: number("kills", 3),
    seed: number("seed", random),
  };
  if (options.payments < 1) throw new UsageError("--payments must be at least 1");
  return options;
}
