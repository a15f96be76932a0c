/** Parses the command line of the prover. */
import { optionsOf, UsageError, wholeNumber } from "../../command_line/run.ts";

export interface ProveOptions {
  readonly payments: number;
  readonly seed: number;
  readonly kills: number;
  /** Where the platform keeps its records: in files of one process, or in PostgreSQL with a synchronous standby. */
  readonly store: "kv" | "sqlite" | "postgres";
  /** Of the platform, on PostgreSQL. */
  readonly processes: number;
  /** Where the platform's keys are, on PostgreSQL: in a file, or in a token of SoftHSM 2 behind the signer. */
  readonly keys: "file" | "token";
  /** What stands between the platform and PostgreSQL. */
  readonly pooler: "none" | "pgbouncer";
  /** Who replaces a primary that is lost. */
  readonly failover: "prover" | "patroni";
  /** Kills only targets whose names begin so. Any by default. */
  readonly kill: string;
}

/** The text of `--help`. */
export const usage =
  `Makes payments in a sandbox of its own, with parallel duplicates, dropped answers, banks and
a receiver of events that go wrong, and kills, then compares everybody's books and the events of the TPPs,
and verifies the evidence of each payment and the log.

Usage: deno task prove [options]

  --payments N   how many payments, 8 at a time (default 100)
  --kills K      how often something is killed meanwhile (default 3)
  --store S      kv, sqlite: the whole sandbox is one process, and is killed as one (default: kv)
                 postgres: processes of the platform behind HAProxy, on a primary with a synchronous standby; kills
                 one of the processes, the primary (then the standby is promoted and replaced), or the banks
  --processes P  of the platform, on PostgreSQL (default 3)
  --keys K       file: the platform has its keys in a file (default)
                 token: in a token of SoftHSM 2, on PostgreSQL; kills the signer too
  --failover F   prover: promotes the standby after a second (default)
                 patroni: three servers under Patroni with etcd, which promotes a standby and brings the machine back
  --pooler P     none (default), or pgbouncer: in transaction mode, behind it HAProxy, which asks Patroni
  --kill WHAT    kill only: platform, database, banks or signer (default: any)
  --seed S       a number that decides all that is decided; printed, to be given again (default: a random one)

Exit status: 0 everything held, 1 something did not, 2 the options are wrong.
`;

const LIMITS = { payments: 100_000, kills: 1000, seed: 2 ** 31 - 1, processes: 20 } as const;
const KILLED = ["platform", "database", "banks", "signer"];

/** The options. @throws {UsageError} */
export function readProveOptions(args: readonly string[]): ProveOptions {
  const given = optionsOf(args, [
    "payments",
    "kills",
    "seed",
    "store",
    "processes",
    "keys",
    "pooler",
    "failover",
    "kill",
  ]);
  const number = (name: keyof typeof LIMITS, byDefault: number): number => {
    const text = given[name];
    return text === undefined ? byDefault : wholeNumber(name, text, LIMITS[name]);
  };
  const { store = "kv", kill = "" } = given;
  if (store !== "kv" && store !== "sqlite" && store !== "postgres") {
    throw new UsageError("--store must be kv, sqlite or postgres");
  }
  if (kill !== "" && (store !== "postgres" || !KILLED.includes(kill))) {
    throw new UsageError(`--kill must be one of ${KILLED.join(", ")}, with --store postgres`);
  }
  const { keys = "file" } = given;
  if (keys !== "file" && (keys !== "token" || store !== "postgres")) {
    throw new UsageError("--keys must be file, or token with --store postgres");
  }
  const { pooler = "none", failover = "prover" } = given;
  if (failover !== "prover" && (failover !== "patroni" || store === "kv")) {
    throw new UsageError("--failover must be prover, or patroni with --store postgres");
  }
  if (pooler !== "none" && (pooler !== "pgbouncer" || failover !== "patroni")) {
    throw new UsageError("--pooler must be none, or pgbouncer with --failover patroni");
  }
  const random = (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % LIMITS.seed;
  const options: ProveOptions = {
    payments: number("payments", 100),
    kills: number("kills", 3),
    seed: number("seed", random),
    store,
    processes: number("processes", 3),
    keys,
    pooler,
    failover,
    kill,
  };
  if (options.payments < 1) throw new UsageError("--payments must be at least 1");
  if (options.processes < 1) throw new UsageError("--processes must be at least 1");
  return options;
}
