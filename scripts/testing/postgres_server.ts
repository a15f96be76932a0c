/**
 * A PostgreSQL server of a test's own: on a loopback port, in a temporary folder. It ends with the test, or with the
 * process that started it.
 */
import { openConnections, UNHURRIED } from "../../src/base/store/postgres/connections.ts";
import { migrate } from "../../src/base/store/postgres/schema.ts";
import { readPostgresUrl } from "../../src/base/store/postgres/settings.ts";
import {
  giveToServer,
  initialise,
  type PostgresNode,
  postgresPrograms,
  runAsServer,
  type Settings,
  startNode,
  USER,
} from "./postgres_node.ts";
import { freePort } from "../command_line/free_ports.ts";

export interface PostgresServer {
  readonly port: number;
  /** The folder with its data and its log. */
  readonly folder: string;
  /** Makes an empty database. Returns its URL. */
  newDatabase(): Promise<string>;
  /** Returns the number of deadlocks in all its databases. */
  deadlocks(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A configuration without flushes to the disk. */
export const FAST: Settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

/** @throws {Error} if PostgreSQL is not installed or does not start */
export async function openPostgresServer(settings: Settings = FAST): Promise<PostgresServer> {
  return await serverOn(settings, (programs, data) => initialise(programs, data));
}

/**
 * Starts another server from a base backup that is a folder of the server's user.
 *
 * @param configuration lines of its postgresql.auto.conf, which say how far the archive is applied
 */
export async function recoverPostgresServer(backup: string, configuration: string): Promise<PostgresServer> {
  return await serverOn(FAST, async (_, data) => {
    await runAsServer("cp", ["-a", backup, data]);
    await Deno.writeTextFile(`${data}/postgresql.auto.conf`, configuration, { append: true });
    await runAsServer("touch", [`${data}/recovery.signal`]);
  });
}

async function serverOn(
  settings: Settings,
  makeData: (programs: string, data: string) => Promise<void>,
): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("PostgreSQL 15 or newer is not installed");
  const folder = await Deno.makeTempDir({ prefix: "postgres-" });
  const [data, log] = [`${folder}/data`, `${folder}/log`];
  const remove = (): Promise<void> => Deno.remove(folder, { recursive: true });
  let node: PostgresNode;
  try {
    await giveToServer(folder);
    await makeData(programs, data);
    node = await startNode({ programs, data, log, port: freePort(), settings });
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    ...databases(node),
    folder,
    async [Symbol.asyncDispose]() {
      await node.stop();
      await remove();
    },
  };
}

function databases(
  { port, admin }: PostgresNode,
): Pick<PostgresServer, "port" | "newDatabase" | "deadlocks"> {
  let count = 0;
  return {
    port,
    async newDatabase() {
      const name = `test${++count}`;
      await admin.unsafe(`create database ${name}`);
      return `postgres://${USER}@127.0.0.1:${port}/${name}?sslmode=disable`;
    },
    async deadlocks() {
      const [found] = await admin<{ count: number }[]>`
        select sum(deadlocks)::integer as count from pg_stat_database`;
      return found?.count ?? 0;
    },
  };
}

/** Brings a new database's schema up to date. Returns its URL. */
export async function migrated(url: string): Promise<string> {
  const connections = await openConnections(readPostgresUrl(url), UNHURRIED);
  await migrate(connections);
  await connections.close();
  return url;
}
