/** The commands of docs/operations/failover.md lead from a killed primary back to two synchronous copies. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  giveToServer,
  initialise,
  type NodeOptions,
  type PostgresNode,
  postgresPrograms,
  runAsServer,
  startNode,
  USER,
} from "testing/postgres_node.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { waitUntil } from "testing/waiting.ts";

const page = await Deno.readTextFile(new URL("../../docs/operations/failover.md", import.meta.url));
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(RegExp(`^ *\`\`\`${language}\\n(.*?)\`\`\``, "gms"))].map(([, text = ""]) => text);
const installed = postgresPrograms();

/** Runs a block of the page statement by statement: some may not be part of a transaction. */
async function runSql({ admin }: PostgresNode, block: string): Promise<readonly unknown[]> {
  let rows: readonly unknown[] = [];
  for (const statement of block.split(/;$/m).filter((text) => text.trim() !== "")) {
    rows = await admin.unsafe(statement);
  }
  return rows;
}

function until(ask: () => Promise<readonly unknown[]>, what: string): Promise<void> {
  return waitUntil(what, async () => (await ask()).length > 0, { seconds: 60 });
}

Deno.test({
  name: "the commands of the failover page lead back to two synchronous copies",
  ignore: installed === undefined,
  async fn() {
    const programs = installed ?? "";
    const [checkpoint = "", names = "", copies = "", ...more] = blocks("sql");
    const [rewind = ""] = blocks("sh");
    assertEquals(more, []);
    const folder = await Deno.makeTempDir({ prefix: "failover-" });
    await using nodes = new AsyncDisposableStack();
    nodes.defer(() => Deno.remove(folder, { recursive: true }));
    await giveToServer(folder);
    const settings = { max_connections: "20" };
    const place = (name: string): NodeOptions => {
      const data = `${folder}/${name}`;
      return { programs, data, log: `${data}.log`, port: freePort(), settings };
    };
    const started = async (at: NodeOptions): Promise<PostgresNode> => {
      const node = await startNode(at);
      nodes.defer(() => node.stop());
      return node;
    };
    const [db1, db2] = [place("db1"), place("db2")];
    await initialise(programs, db1.data);
    const [, configuration = ""] = /```\n(wal_log_hints.*?)```/s.exec(page) ?? [];
    const everyName = configuration.replace("hub_db3", "hub_db1"); // so that one file is right on both
    await Deno.writeTextFile(`${db1.data}/postgresql.conf`, everyName, { append: true });
    const primary = await started(db1);
    const source = `host=127.0.0.1 port=${db1.port} user=${USER} application_name=hub_db2`;
    const copy = ["-D", db2.data, "-d", source, "-R", "-X", "stream", "-c", "fast"];
    await runAsServer(`${programs}/pg_basebackup`, copy);
    const standby = await started(db2);
    await until(() => runSql(primary, copies), "the first replication");
    await primary.admin`create role hub_standby login replication`; // as postgresql.md makes it
    await primary.admin`create table kept (id integer)`;
    await primary.admin`insert into kept values (1)`;
    await primary.kill();

    await standby.admin`select pg_promote()`;
    await runSql(standby, checkpoint);
    const script = rewind.replaceAll("host=db2.example", `host=127.0.0.1 port=${db2.port}`);
    assertStringIncludes(script, `port=${db2.port}`);
    const environment = [`PGDATA=${db1.data}`, `PATH=${programs}:${Deno.env.get("PATH") ?? ""}`];
    await runAsServer("env", [...environment, "sh", "-euc", script]);
    await started(db1);
    await runSql(standby, names);
    await until(() => runSql(standby, copies), "the replication to the former primary");

    await standby.admin`insert into kept values (2)`;
    const [row] = await standby.admin<{ application_name: string; usename: string; slot: boolean }[]>`
      select application_name, usename, (select active from pg_replication_slots where slot_name = 'hub_db1') as slot
      from pg_stat_replication`;
    assertEquals({ ...row }, { application_name: "hub_db1", usename: "hub_standby", slot: true });
  },
});
