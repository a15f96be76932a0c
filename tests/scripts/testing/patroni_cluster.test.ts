/**
 * The examples packaging/patroni and packaging/pgbouncer: a machine is lost, Patroni replaces it, no acknowledged commit is
 * lost, and there are two copies again. `deno task prove --failover patroni` does the same under the platform's load.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { openStore } from "../../../src/base/store/open_store.ts";
import { StoreFailure } from "../../../src/base/store/store.ts";
import { isPatroniThere, openPatroniCluster } from "testing/patroni_cluster.ts";
import { isPgbouncerThere } from "testing/pgbouncer.ts";
import { postgresPrograms } from "testing/postgres_node.ts";
import { migrated } from "testing/postgres_server.ts";

const isMissing = postgresPrograms() === undefined || !isPatroniThere() || !isPgbouncerThere();
if (isMissing) {
  const words =
    "\n*** SKIPPED: no machine was lost under Patroni, one of patroni, etcd-server, pgbouncer, haproxy is missing ***\n\n";
  Deno.stdout.writeSync(new TextEncoder().encode(words));
}
const PLATFORM = { program: "platform", issuer: "https://auth.example.com" } as const;

Deno.test({
  name:
    "Patroni replaces a machine that is lost: each acknowledged commit stays, and there are two copies again",
  ignore: isMissing,
  async fn() {
    await using cluster = await openPatroniCluster({ isPooled: true });
    const { servers, platform } = await cluster.newDatabase();
    await migrated(servers);
    const store = await openStore(platform, PLATFORM);
    const acknowledged: string[] = [];
    let isOver = false;
    const write = async (): Promise<void> => {
      for (let number = 0; !isOver; number++) {
        const key = ["kept", String(number)];
        const commit = { checks: [], writes: [{ kind: "set", key, value: number } as const] };
        const isDone = await store.commit(commit).catch((error) => {
          if (error instanceof StoreFailure) return false;
          throw error;
        });
        if (isDone) acknowledged.push(key.join(" "));
      }
    };
    try {
      const writing = write();
      await cluster.loseThePrimary();
      const before = acknowledged.length;
      while (acknowledged.length < before + 3) await new Promise((resolve) => setTimeout(resolve, 50));
      isOver = true;
      await writing;
      const kept = new Set(
        (await store.list({ prefix: ["kept"], limit: 100_000 })).map(({ key }) => key.join(" ")),
      );
      assertEquals(acknowledged.filter((key) => !kept.has(key)), []);
    } finally {
      isOver = true;
      await store.close();
    }
    await using standby = await cluster.poolerOfStandby();
    const behind = platform.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${standby.port}`);
    await assertRejects(() => openStore(behind, PLATFORM), Error);
  },
});
