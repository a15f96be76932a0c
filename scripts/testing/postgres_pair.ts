/**
 * A PostgreSQL primary and a synchronous standby of a test's own, and the failover between them. A commit is answered
 * when both have flushed it to the disk.
 */
import {
  giveToServer,
  initialise,
  type NodeOptions,
  type PostgresNode,
  postgresPrograms,
  runAsServer,
  type Settings,
  startNode,
  USER,
} from "./postgres_node.ts";
import { freePort } from "../command_line/free_ports.ts";
import { waitUntil } from "./waiting.ts";

export interface PostgresPair {
  readonly primary: PostgresNode;
  /** Makes an empty database. Returns its URL, which names both servers, the present standby first. */
  newDatabase(): Promise<string>;
  /** `kill -9` of the primary. */
  killPrimary(): Promise<void>;
  /** Makes the standby the primary. From then on commits wait for no standby. */
  promote(): Promise<void>;
  /** Makes a new standby in the place of the killed primary. From then on commits wait for it. */
  rebuildStandby(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const SETTINGS: Settings = { max_connections: "200", wal_keep_size: "256MB" };

/** @throws {Error} if PostgreSQL is not installed or does not start */
export async function openPostgresPair(): Promise<PostgresPair> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("PostgreSQL 15 or newer is not installed");
  const folder = await Deno.makeTempDir({ prefix: "postgres-pair-" });
  await giveToServer(folder);
  let made = 0;
  const place = (port: number): NodeOptions => {
    const data = `${folder}/data${++made}`;
    return { programs, data, log: `${data}.log`, port, settings: SETTINGS };
  };
  const first = place(freePort());
  await initialise(programs, first.data);
  let primary = await startNode(first);
  let standby = await startStandby(primary, place(freePort()));
  return {
    get primary() {
      return primary;
    },
    async newDatabase() {
      const name = `pair${++made}`;
      await primary.admin.unsafe(`create database ${name}`);
      await until(() => standby.admin`select from pg_database where datname = ${name}`);
      const hosts = [standby, primary].map(({ port }) => `127.0.0.1:${port}`).join();
      return `postgres://${USER}@${hosts}/${name}?sslmode=disable`;
    },
    killPrimary: () => primary.kill(),
    async promote() {
      await standby.admin`select pg_promote()`;
      [primary, standby] = [standby, primary];
    },
    async rebuildStandby() {
      standby = await startStandby(primary, place(standby.port));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([standby.stop(), primary.stop()]);
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** The copy is taken before the primary waits for standbys: a promoted one must not wait for the server that it replaces. */
async function startStandby({ admin, port }: PostgresNode, place: NodeOptions): Promise<PostgresNode> {
  const source = `host=127.0.0.1 port=${port} user=${USER} application_name=standby`;
  const options = ["-d", source, "-R", "-X", "stream", "-c", "fast"];
  await runAsServer(`${place.programs}/pg_basebackup`, ["-D", place.data, ...options]);
  const standby = await startNode(place);
  await admin`alter system set synchronous_standby_names = 'standby'`;
  await admin`select pg_reload_conf()`;
  try {
    await until(() => admin`select from pg_stat_replication where sync_state = 'sync'`);
  } catch (error) {
    await standby.stop();
    throw error;
  }
  return standby;
}

/** Asks until there is a row. */
function until(ask: () => Promise<readonly unknown[]>): Promise<void> {
  return waitUntil("the standby follows its primary", async () => (await ask()).length > 0);
}
