/** The SQL of docs/operations/postgresql.md, run in the order of the page against a server. */
import { assertEquals, assertRejects } from "@std/assert";
import postgres from "postgres";
import { storeCommand } from "../../scripts/operators/store/main.ts";
import { SCHEMA } from "../../src/base/store/postgres/schema.ts";
import { openStore } from "../../src/base/store/open_store.ts";
import { isPostgresMissing, postgresServer } from "../support/postgres.ts";

const PAGE = new URL("../../docs/operations/postgresql.md", import.meta.url);
const PLATFORM = { program: "platform", issuer: "https://auth.example.com" } as const;

interface Session {
  readonly user: string;
  readonly database: string;
}

/** Runs a block statement by statement, because `create database` cannot be part of a transaction. */
async function run(block: string, { user, database }: Session): Promise<number[]> {
  const { port } = postgresServer();
  const sql = postgres({ host: "127.0.0.1", port, user, database, max: 1, onnotice: () => {} });
  try {
    const counts: number[] = [];
    for (const statement of block.split(/;$/m).filter((text) => text.trim() !== "")) {
      counts.push((await sql.unsafe(statement)).length);
    }
    return counts;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

Deno.test({
  name: "the SQL of the PostgreSQL page sets a database up, and its queries answer",
  ignore: isPostgresMissing,
  async fn() {
    const page = await Deno.readTextFile(PAGE);
    const blocks = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, text = ""]) => text);
    const [setUp = "", roles = "", queries = "", poolers = "", monitoring = "", owner = "", ...more] = blocks;
    assertEquals(more, []);
    const url = (user: string, database = "hub"): string =>
      `postgres://${user}@127.0.0.1:${postgresServer().port}/${database}?sslmode=disable`;
    const admin = { user: "postgres", database: "hub" };
    await run(setUp, { user: "postgres", database: "postgres" });
    for (const database of ["hub", "hub_keys"]) {
      await storeCommand(["migrate"], { storeUrl: url("hub_owner", database), now: 0 });
    }
    await run(roles, admin);
    await run(poolers, admin);
    const store = await openStore(url("hub_platform"), PLATFORM);
    try {
      await run(
        "create role monitor login in role pg_monitor; grant connect on database hub to monitor",
        admin,
      );
      const [standbys, platform, size, archiver] = await run(monitoring, {
        user: "monitor",
        database: "hub",
      });
      assertEquals([standbys, (platform ?? 0) > 0, (size ?? 0) > 3, archiver], [0, true, true, 1]);
      assertEquals(await run(owner, { user: "hub_owner", database: "hub" }), [1, SCHEMA]);
    } finally {
      await store.close();
    }
    await withConnections([url("hub_platform"), url("hub_platform", "hub_keys")], page);
    const analyst = { user: "hub_analyst", database: "hub" };
    assertEquals(await run(queries, analyst), [0, 0, 0]);
    await assertRejects(() => run("create temp table own (a int)", analyst), Error, "read-only transaction");
    await run("create role other login", admin);
    for (
      const [user, database] of [["other", "hub"], ["other", "hub_keys"], [
        "hub_analyst",
        "hub_keys",
      ]] as const
    ) {
      await assertRejects(() => run("select 1", { user, database }), Error, "permission denied");
    }
  },
});

/** A process that waits for both databases has the connections that the page reckons with, and no other. */
async function withConnections(urls: readonly string[], page: string): Promise<void> {
  const [, aProcess, reserved] = /`max_connections` of (\d+) × processes\s\+ (\d+)/.exec(page) ?? [];
  const sql = (database: string): postgres.Sql =>
    postgres({ host: "127.0.0.1", port: postgresServer().port, user: "postgres", database, max: 2 });
  const [hub, keys] = [sql("hub"), sql("hub_keys")];
  const stores = await Promise.all(urls.map((one) => openStore(one, PLATFORM)));
  try {
    const open = async (): Promise<number> => {
      const [row] =
        await hub`select count(*)::int as open from pg_stat_activity where application_name = 'hub'`;
      return Number(row?.["open"]);
    };
    const lock = (inDatabase: postgres.Sql, during: () => Promise<void>): Promise<void> =>
      inDatabase.begin(async (locked) => {
        await locked`lock table hub.entry in access exclusive mode`;
        await during();
      }).then(() => {});
    const reads: Promise<unknown>[] = [];
    await lock(keys, () =>
      lock(hub, async () => {
        const each = Array.from({ length: 25 }, (_, index) => ["client", String(index)] as const);
        reads.push(...stores.flatMap((store) => each.map((key) => store.get(key).catch(() => {}))));
        let isOver = false; // the server ends what waits too long
        void Promise.all(reads).finally(() => isOver = true);
        while (!isOver && await open() < Number(aProcess)) { /* until all are open */ }
      }));
    await Promise.all(reads);
    assertEquals(await open(), Number(aProcess));
    const [row] = await hub`show superuser_reserved_connections`;
    assertEquals(reserved, row?.["superuser_reserved_connections"]);
  } finally {
    await Promise.all([...stores.map((store) => store.close()), hub.end(), keys.end()]);
  }
}
