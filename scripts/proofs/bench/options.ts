/** Parses the command line of the bench. */
import { numberReader, oneOf, wholeNumber } from "../../command_line/option_values.ts";
import { optionsOf } from "../../command_line/run.ts";

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
  /** Numbers of platform processes on one PostgreSQL to measure, in place of the rounds. */
  readonly processes: readonly number[];
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
  --fill N           measure again with N payments in the store, and compare
  --store ENGINE     file or postgres: where the platform keeps its records (default file)
  --writes A,B       instead, count what a payment writes and calls on these engines: kv, sqlite, postgres
  --processes A,B    instead, measure so many platform processes on one PostgreSQL, such as 1,2,4
  --guard            fail where a ratio at concurrency 8 is past 1.5 times of scripts/proofs/bench/report.ts

Processor time and memory are read from /proc: Linux only.

Exit status: 0 measured, 1 a request failed or the guard does not hold, 2 the options are wrong.
`;

const MOST = 99_999_999;
const LIMITS = { requests: MOST, rounds: MOST, warm: MOST, fill: MOST };
const NAMES = [
  "requests",
  "rounds",
  "concurrency",
  "warm",
  "fill",
  "store",
  "writes",
  "processes",
] as const;

/** The options. @throws {UsageError} */
export function readBenchOptions(args: readonly string[]): BenchOptions {
  const given = optionsOf(args, NAMES, ["guard"]);
  const number = numberReader(given, LIMITS);
  const concurrency = (given.concurrency ?? "1,8,32").split(",");
  const engines = given.writes?.split(",") ?? [];
  return {
    requests: number("requests", 200, 1),
    rounds: number("rounds", 3, 1),
    concurrency: concurrency.map((text) => wholeNumber("concurrency", text, MOST, 1)),
    warm: number("warm", 800),
    fill: number("fill", 0),
    store: oneOf("store", given.store ?? "file", ["file", "postgres"]),
    writes: engines.map((text) => oneOf("writes", text, ["kv", "sqlite", "postgres"])),
    processes: (given.processes?.split(",") ?? []).map((text) => wholeNumber("processes", text, MOST, 1)),
    guard: given.guard ?? false,
  };
}
