/**
 * The examples packaging/patroni and packaging/pgbouncer: a machine is lost, Patroni replaces it, no acknowledged commit is
 * lost, and there are two copies again. `deno task prove --failover patroni` does the same under the platform's load.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { openStore } from "../../../src/base/store/open_store.ts";
import { StoreFailure } from "../../../src/base/store/store.ts";
import { isPatroniThere, openPatroniCluster } from "testing/patroni_cluster.ts";
import postgres from "postgres";
import { isPgbouncerThere, startPgbouncer } from "testing/pgbouncer.ts";
import { openTlsPostgresServer } from "testing/postgres_tls.ts";
import { serverIdentity } from "testing/web_authority.ts";
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
    assertEquals(await cluster.notPermitted(), []);
    assertEquals(await cluster.changedByAnyone(), 401);
  },
});

Deno.test({
  name: "the example of PgBouncer asks the platform for its password, and both sides verify certificates",
  ignore: isMissing,
  async fn() {
    await using server = await openTlsPostgresServer(["localhost"]);
    const database = new URL(await migrated(await server.newDatabase())).pathname;
    const admin = postgres({
      host: "127.0.0.1",
      port: server.port,
      user: "postgres",
      max: 1,
      onnotice: () => {},
    });
    await using parts = new AsyncDisposableStack();
    parts.defer(() => admin.end({ timeout: 1 }));
    await admin`create role hub_platform login password 'secret' in role hub_process`;
    const [role] = await admin<{ secret: string }[]>`
      select rolpassword as secret from pg_authid where rolname = 'hub_platform'`;
    const hba = `${server.folder}/data/pg_hba.conf`;
    const rest = await Deno.readTextFile(hba);
    await Deno.writeTextFile(hba, `hostssl all hub_platform 127.0.0.1/32 scram-sha-256\n${rest}`);
    await admin`select pg_reload_conf()`;
    const identity = await serverIdentity(["localhost"]);
    const at = async (name: string, text: string): Promise<string> => {
      await Deno.writeTextFile(`${server.folder}/${name}`, text);
      return `${server.folder}/${name}`;
    };
    const { port, program } = await startPgbouncer(server.folder, server.port, {
      "userlist.txt": await at("userlist.txt", `"hub_platform" "${role?.secret}"\n`),
      "localhost.pem": await at("localhost.pem", identity.certificatePem),
      "localhost.key.pem": await at("localhost.key.pem", identity.privateKeyPem),
      "db-ca.pem": server.authority,
    });
    parts.defer(() => program.end());
    const url = (password: string): string =>
      `postgres://hub_platform:${password}@localhost:${port}${database}?prepare=false&sslrootcert=${server.authority}`;
    const store = await openStore(url("secret"), PLATFORM);
    parts.defer(() => store.close());
    assertEquals(
      await store.commit({ checks: [], writes: [{ kind: "set", key: ["kept"], value: 1 }] }),
      true,
    );
    await assertRejects(() => openStore(url("other"), PLATFORM), Error);
  },
});
