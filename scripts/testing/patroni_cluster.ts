/**
 * Three PostgreSQL servers under Patroni, with etcd, in a test's own folder: packaging/patroni as it is, but for names,
 * addresses and folders. A machine is lost by `kill -9` of its Patroni and of its server.
 */
import postgres from "postgres";
import { UsageError } from "../command_line/run.ts";
import { areInstalled } from "./installed.ts";
import {
  type Companion,
  giveToServer,
  killServer,
  postgresPrograms,
  startAsServer,
  USER,
} from "./postgres_node.ts";
import { freePort } from "../command_line/free_ports.ts";
import { isPgbouncerThere, startPgbouncer, startPrimaryProxy } from "./pgbouncer.ts";
import { waitUntil } from "./waiting.ts";
import { serverIdentity, webAuthority } from "./web_authority.ts";

/** The URLs of one database: of its servers, and of what the platform connects to. */
export interface ProvedUrls {
  readonly servers: string;
  readonly platform: string;
}

export interface PatroniCluster extends AsyncDisposable {
  newDatabase(): Promise<ProvedUrls>;
  /** Kills the primary's machine, and starts its Patroni again when another one is primary. */
  loseThePrimary(): Promise<void>;
  /** Starts a PgBouncer in front of a standby, which it must not let through. */
  poolerOfStandby(): Promise<AsyncDisposable & { readonly port: number }>;
  /** The status of a change of the cluster's configuration that comes without a password. */
  changedByAnyone(): Promise<number>;
  /** The connections that the rules of the example do not permit, of all servers. */
  notPermitted(): Promise<readonly string[]>;
}

interface Node {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly data: string;
  readonly file: string;
  program: Companion;
}

const [PATRONI, ETCD] = ["/usr/bin/patroni", "/usr/bin/etcd"] as const;
const EXAMPLE = new URL("../../packaging/patroni/patroni.yml", import.meta.url);
const NAMES = ["db1", "db2", "db3"];
const WITHIN_SECONDS = 120;
/** Of the superuser, in the example. */
const PASSWORD = "a long random password";

/** Whether Patroni and etcd are installed. */
export function isPatroniThere(): boolean {
  return areInstalled(PATRONI, ETCD);
}

/** What docs/operations/postgresql.md sets for the platform's role behind PgBouncer. */
const BEHIND_PGBOUNCER = ["statement_timeout = 2000", "enable_seqscan = off"];

/** @throws {UsageError} if a program is missing */
export async function openPatroniCluster(
  { isPooled = false }: { readonly isPooled?: boolean } = {},
): Promise<PatroniCluster> {
  const programs = postgresPrograms();
  if (isPooled && !isPgbouncerThere()) throw new UsageError("--pooler pgbouncer needs PgBouncer and HAProxy");
  if (programs === undefined || !isPatroniThere()) {
    throw new UsageError("--failover patroni needs PostgreSQL, Patroni and etcd (patroni, etcd-server)");
  }
  await using parts = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "patroni-" });
  parts.defer(() => Deno.remove(folder, { recursive: true }));
  await giveToServer(folder);
  await writeIdentity(folder);
  const etcd = startEtcd(folder);
  parts.defer(() => etcd.program.end());
  const nodes: Node[] = [];
  for (const name of NAMES) {
    const place = { name, port: freePort(), restPort: freePort(), data: `${folder}/${name}` };
    const file = `${folder}/${name}.yml`;
    await Deno.writeTextFile(file, await configurationOf(place, folder, programs, etcd.port));
    const node = { ...place, file, program: startPatroni(file) };
    parts.defer(() => node.program.end());
    nodes.push(node);
    if (nodes.length === 1) await answers(node, "primary"); // so that the others copy it
  }
  await hasCopies(nodes);
  const pooler = isPooled ? await startPooler(parts, folder, nodes) : undefined;
  let made = 0;
  const running = parts.move();
  return {
    async newDatabase() {
      const primary = await primaryOf(nodes);
      const name = `hub${++made}`;
      await atServer(primary.port, (sql) => sql.unsafe(`create database ${name}`));
      const hosts = nodes.map(({ port }) => `localhost:${port}`).join();
      const at = `postgres://${USER}:${encodeURIComponent(PASSWORD)}@`;
      const url = `${at}${hosts}/${name}?sslrootcert=${folder}/ca.pem`;
      if (pooler === undefined) return { servers: url, platform: url };
      for (const setting of BEHIND_PGBOUNCER) {
        await atServer(primary.port, (sql) => sql.unsafe(`alter database ${name} set ${setting}`));
      }
      return { servers: url, platform: `${at}127.0.0.1:${pooler}/${name}?sslmode=disable&prepare=false` };
    },
    async loseThePrimary() {
      const lost = await primaryOf(nodes);
      await Promise.all([lost.program.end("KILL"), killServer(lost.data)]);
      await primaryOf(nodes.filter((node) => node !== lost));
      lost.program = startPatroni(lost.file);
      await hasCopies(nodes);
    },
    async poolerOfStandby() {
      const primary = await primaryOf(nodes);
      const standby = nodes.find((node) => node !== primary) as Node;
      const { port, program } = await startPgbouncer(folder, standby.port, { password: PASSWORD });
      return { port, [Symbol.asyncDispose]: () => program.end() };
    },
    async changedByAnyone() {
      const { restPort } = await primaryOf(nodes);
      const change = { method: "PATCH", body: JSON.stringify({ ttl: 6 }) };
      const answer = await fetch(`http://127.0.0.1:${restPort}/config`, change);
      await answer.body?.cancel();
      return answer.status;
    },
    async notPermitted() {
      const logs = await Promise.all(nodes.map(({ file }) => Deno.readTextFile(logOf(file))));
      return [...new Set(logs.join("").match(/no pg_hba\.conf entry.*/g))];
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The servers' certificate, and the authority that the platform knows. */
async function writeIdentity(folder: string): Promise<void> {
  const { certificatePem, privateKeyPem } = await serverIdentity(["localhost"]);
  await Deno.writeTextFile(`${folder}/db.pem`, certificatePem);
  await Deno.writeTextFile(`${folder}/db.key.pem`, privateKeyPem, { mode: 0o600 });
  await giveToServer(`${folder}/db.key.pem`);
  await Deno.writeTextFile(`${folder}/ca.pem`, (await webAuthority()).certificatePem);
}

/** @returns the port of PgBouncer */
async function startPooler(
  parts: AsyncDisposableStack,
  folder: string,
  nodes: readonly Node[],
): Promise<number> {
  const proxy = await startPrimaryProxy(folder, nodes);
  parts.defer(() => proxy.program.end("KILL"));
  await leadsToThePrimary(proxy.port, nodes.length);
  const pooler = await startPgbouncer(folder, proxy.port, { password: PASSWORD });
  parts.defer(() => pooler.program.end());
  return pooler.port;
}

/** HAProxy takes every server for a primary until it has asked it, and leads to one after the other. */
async function leadsToThePrimary(port: number, servers: number): Promise<void> {
  const isPrimary = async (): Promise<boolean> => {
    let isStandby = true;
    await atServer(port, async (sql) => {
      const [row] = await sql<{ is: boolean }[]>`select pg_is_in_recovery() as is`;
      isStandby = row?.is !== false;
    }).catch(() => {});
    return !isStandby;
  };
  await until("HAProxy to the primary", async () => {
    for (let connection = 0; connection < servers; connection++) if (!await isPrimary()) return false;
    return true;
  });
}

function startEtcd(folder: string): { readonly program: Companion; readonly port: number } {
  const [port, peerPort] = [freePort(), freePort()];
  const [client, peer] = [port, peerPort].map((at) => `http://127.0.0.1:${at}`);
  const args = [
    ["--data-dir", `${folder}/etcd`],
    ["--listen-client-urls", client],
    ["--advertise-client-urls", client],
    ["--listen-peer-urls", peer],
    ["--initial-advertise-peer-urls", peer],
    ["--initial-cluster", `default=${peer}`],
  ].flat().map(String);
  return { program: startAsServer(ETCD ?? "", args, `${folder}/etcd.log`), port };
}

function startPatroni(file: string): Companion {
  return startAsServer(PATRONI ?? "", [file], logOf(file));
}

/** The log of Patroni with the configuration `file`, and of its server. */
function logOf(file: string): string {
  return file.replace(/yml$/, "log");
}

/** The example with the addresses of one machine. */
async function configurationOf(
  { name, port, restPort, data }: Omit<Node, "file" | "program">,
  folder: string,
  programs: string,
  etcdPort: number,
): Promise<string> {
  return (await Deno.readTextFile(EXAMPLE)).replace("name: db1", `name: ${name}`)
    .replace("0.0.0.0:8008", `127.0.0.1:${restPort}`).replace("db1.example:8008", `127.0.0.1:${restPort}`)
    .replace(/hosts: db1\.example.*/, `hosts: 127.0.0.1:${etcdPort}`)
    .replace("0.0.0.0:5432", `127.0.0.1:${port}`).replace("db1.example:5432", `127.0.0.1:${port}`)
    .replace("/var/lib/postgresql/15/hub", data)
    // The file of passwords is in the home folder, which machines do not share.
    .replace("/usr/lib/postgresql/15/bin", `${programs}\n  pgpass: ${data}.pgpass`)
    .replace("/run/postgresql", folder).replace("max_connections: 100", "max_connections: 200")
    .replaceAll("/etc/patroni/", `${folder}/`).replaceAll("10.0.0.0/24", "127.0.0.1/32");
}

/** Waits until Patroni says at its path `/NAME` that the machine is such a one. */
async function answers({ restPort }: Node, path: string): Promise<void> {
  await until(`a ${path}`, async () => await isSuch(restPort, path));
}

async function isSuch(restPort: number, path: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${restPort}/${path}`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}

async function primaryOf(nodes: readonly Node[]): Promise<Node> {
  let found: Node | undefined;
  await until("a primary", async () => {
    const are = await Promise.all(nodes.map(({ restPort }) => isSuch(restPort, "primary")));
    found = nodes[are.indexOf(true)];
    return found !== undefined;
  });
  return found as Node;
}

/** All machines but the primary are standbys, and one of them is synchronous. */
async function hasCopies(nodes: readonly Node[]): Promise<void> {
  await until("two copies", async () => {
    const [standbys, synchronous] = await Promise.all(["replica", "synchronous"].map(async (path) => {
      const are = await Promise.all(nodes.map(({ restPort }) => isSuch(restPort, path)));
      return are.filter(Boolean).length;
    }));
    return standbys === nodes.length - 1 && (synchronous ?? 0) > 0;
  });
}

function until(what: string, ask: () => Promise<boolean>): Promise<void> {
  return waitUntil(`Patroni brings ${what}`, ask, { seconds: WITHIN_SECONDS });
}

async function atServer(port: number, act: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres({
    host: "127.0.0.1",
    port,
    username: USER,
    password: PASSWORD,
    ssl: "require",
    database: "postgres",
    max: 1,
    onnotice: () => {},
  });
  try {
    await act(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
