/** The database of a proved cluster: it loses its primary, and has two copies again. */
import { openPostgresPair } from "../../testing/postgres_pair.ts";
import { openPatroniCluster, type ProvedUrls } from "../../testing/patroni_cluster.ts";
import { pause } from "./calls.ts";
import type { ProveOptions } from "./options.ts";

export interface ProvedDatabase extends AsyncDisposable {
  newDatabase(): Promise<ProvedUrls>;
  /** Kills the primary. Resolves when another one has taken its place and a standby follows that. */
  loseThePrimary(): Promise<void>;
}

/** Until a supervisor of the prover's own promotes the standby. */
const NOTICED_AFTER_MS = 1000;

/** @throws {UsageError} if a program is missing */
export async function openProvedDatabase(
  { pooler, failover }: Pick<ProveOptions, "pooler" | "failover">,
): Promise<ProvedDatabase> {
  if (failover === "patroni") return await openPatroniCluster({ isPooled: pooler === "pgbouncer" });
  const pair = await openPostgresPair();
  return {
    async newDatabase() {
      const url = await pair.newDatabase();
      return { servers: url, platform: url };
    },
    async loseThePrimary() {
      await pair.killPrimary();
      await pause(NOTICED_AFTER_MS);
      await pair.promote();
      await pair.rebuildStandby();
    },
    [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose](),
  };
}
