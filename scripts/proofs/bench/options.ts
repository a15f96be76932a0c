/** Parses the command line of the bench. */
import { optionsOf, UsageError } from "../../command_line/run.ts";

/** A Deno KV file, a SQLite file, or PostgreSQL. */
export type Engine = "kv" | "sqlite" | "postgres";

export interface BenchOptions {
  /** Payments a round. */
  readonly requests: number;
  readonly rounds: number;
  readonly concurrency: readonly number[];
  /** Payments before the first round, so that the code that is measured is compiled. */
  readonly warm: number;
  /** Consents, payments and spent ids to fill the store with; 0 measures an empty store. */
  readonly fill: number;
  /** Where the platform that is measured keeps its records. */
  readonly store: "file" | "postgres";
  /** Engines on which to count what a payment writes and calls, in place of the rounds. */
  readonly writes: readonly Engine[];
  /** Roots of other checkouts whose payments are counted too. */
  readonly beside: readonly string[];
  readonly json: boolean;
  readonly guard: boolean;
}

/** The text of `--help`. */
export const usage =
  `What a request costs the platform, beside what its cryptography and one commit cost by themselves.

Usage: deno task bench [options]

  --requests N       payments a round, each a request of every stage (default 200)
  --rounds N         rounds at each concurrency (default 3)
  --concurrency A,B  requests side by side (default 1,8,32)
  --warm N           payments before the first round (default 800)
  --fill N           measure again with N consents, payments and spent ids in the store, and compare
  --store ENGINE     file or postgres: where the platform keeps its records (default file)
  --writes A,B       instead, count what a payment writes and calls on these engines: kv, sqlite, postgres
  --beside A,B       with --writes: count for these other checkouts too, in turns
  --json             rows for machines
  --guard            fail where a ratio at concurrency 8 is past 1.5 times of scripts/proofs/bench/ratios.ts

Processor time and memory are read from /proc: Linux only.

Exit status: 0 measured, 1 a request failed or the guard does not hold, 2 the options are wrong.
`;

const NAMES = ["requests", "rounds", "concurrency", "warm", "fill", "store", "writes", "beside"] as const;

/** The options. @throws {UsageError} */
export function readBenchOptions(args: readonly string[]): BenchOptions {
  const given = optionsOf(args, NAMES, ["json", "guard"]);
  return {
    requests: number("requests", given.requests ?? "200", 1),
    rounds: number("rounds", given.rounds ?? "3", 1),
    concurrency: (given.concurrency ?? "1,8,32").split(",").map((text) => number("concurrency", text, 1)),
    warm: number("warm", given.warm ?? "800", 0),
    fill: number("fill", given.fill ?? "0", 0),
    store: engine(given.store ?? "file"),
    writes: given.writes?.split(",").map(engineOf) ?? [],
    beside: given.beside?.split(",") ?? [],
    json: given.json ?? false,
    guard: given.guard ?? false,
  };
}

function engineOf(text: string): Engine {
  if (text === "kv" || text === "sqlite" || text === "postgres") return text;
  throw new UsageError("--writes must be some of kv, sqlite, postgres");
}

function engine(text: string): BenchOptions["store"] {
  if (text === "file" || text === "postgres") return text;
  throw new UsageError("--store must be file or postgres");
}

function number(name: string, text: string, least: number): number {
  if (!/^\d{1,8}$/.test(text) || Number(text) < least) {
    throw new UsageError(`--${name} must be a whole number from ${least}`);
  }
  return Number(text);
}
