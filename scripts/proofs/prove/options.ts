/** Parses the command line of the prover. */
import { numberReader, oneOf, readSeed } from "../../command_line/option_values.ts";
import { optionsOf, UsageError } from "../../command_line/run.ts";

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

const LIMITS = { payments: 100_000, kills: 1000, processes: 20 };
const TEXTS = ["seed", "store", "keys", "pooler", "failover", "kill"] as const;

/** The options. @throws {UsageError} */
export function readProveOptions(args: readonly string[]): ProveOptions {
  const given = optionsOf(args, ["payments", "kills", "processes", ...TEXTS]);
  const number = numberReader(given, LIMITS);
  const options: ProveOptions = {
    payments: number("payments", 100, 1),
    kills: number("kills", 3),
    seed: readSeed(given.seed),
    store: oneOf("store", given.store ?? "kv", ["kv", "sqlite", "postgres"]),
    processes: number("processes", 3, 1),
    keys: oneOf("keys", given.keys ?? "file", ["file", "token"]),
    pooler: oneOf("pooler", given.pooler ?? "none", ["none", "pgbouncer"]),
    failover: oneOf("failover", given.failover ?? "prover", ["prover", "patroni"]),
    kill: given.kill === undefined
      ? ""
      : oneOf("kill", given.kill, ["platform", "database", "banks", "signer"]),
  };
  const { store, keys, pooler, failover, kill } = options;
  if (store !== "postgres" && (kill !== "" || keys === "token" || failover === "patroni")) {
    throw new UsageError("--kill, --keys token and --failover patroni need --store postgres");
  }
  if (pooler === "pgbouncer" && failover !== "patroni") {
    throw new UsageError("--pooler pgbouncer needs --failover patroni");
  }
  return options;
}
