/** Parses the command line of the prover. */
import { UsageError, wholeNumber } from "../command_line/run.ts";

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
  if (args.includes("--help")) return undefined;
  const given = { payments: 100, kills: 3, seed: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0 };
  const options = { ...given, seed: given.seed % LIMITS.seed };
  for (let at = 0; at < args.length; at += 2) {
    const name = args[at]?.replace(/^--/, "");
    const value = args[at + 1] ?? "";
    if (name !== "payments" && name !== "kills" && name !== "seed") {
      throw new UsageError(`Unknown option: ${args[at]}`);
    }
    options[name] = wholeNumber(name, value, LIMITS[name]);
  }
  if (options.payments < 1) throw new UsageError("--payments must be at least 1");
  return options;
}
