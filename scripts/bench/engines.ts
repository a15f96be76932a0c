/**
 * Compares the cost of a whole payment on a Deno KV file and on PostgreSQL, in one run: processor time of the
 * platform and of the database, rows and bytes that stay. PostgreSQL is reached over verified TLS, as in production.
 */
import { openConnections } from "../../src/base/store/postgres/connections.ts";
import { readPostgresUrl } from "../../src/base/store/postgres/settings.ts";
import { openTlsPostgresServer, type TlsPostgresServer } from "../testing/postgres_tls.ts";
import { openServedEnvironment, type ServedEnvironment } from "../testing/served_environment.ts";
import { migrated } from "../testing/postgres_server.ts";
import { median } from "./report.ts";
import { runPayments, runStages } from "./flows.ts";
import { cpuMilliseconds, cpuWithChildren } from "./process.ts";

/** Medians of the rounds, milliseconds of processor time a payment unless said otherwise. */
export interface EngineCosts {
  /** The platform with a KV file, its SQLite thread included. */
  readonly file: number;
  /** The platform alone, with PostgreSQL. */
  readonly platform: number;
  /** PostgreSQL's processes. */
  readonly server: number;
  /** Bytes of the table and its indexes, without those of unfinished payments. */
  readonly bytesPerPayment: number;
  readonly failures: number;
}

export interface EngineOptions {
  readonly requests: number;
  readonly rounds: number;
  readonly warm: number;
}

const AT_ONCE = 8;

/** Compares the engines. `serve` are variables of both platforms. */
export async function compareEngines(
  options: EngineOptions,
  serve: Readonly<Record<string, string>>,
  say: (text: string) => void,
): Promise<EngineCosts> {
  await using server = await openBenchServer();
  const url = await newBenchDatabase(server);
  await using onFile = await openServedEnvironment(serve);
  await using onServer = await openServedEnvironment({ ...serve, STORE_URL: url });
  for (const env of [onFile, onServer]) {
    await runStages(env, () => Promise.resolve(0), options.warm, AT_ONCE);
  }
  const database = Number((await Deno.readTextFile(`${server.folder}/data/postmaster.pid`)).split("\n")[0]);
  const costs: Record<"file" | "platform" | "server", number[]> = { file: [], platform: [], server: [] };
  let failures = 0;
  const bytes = await sizeOf(url);
  for (let round = 1; round <= options.rounds; round++) {
    say(`round ${round} of ${options.rounds}`);
    const kv = await runPayments(onFile, meterOf(onFile), options.requests, AT_ONCE);
    const before = await cpuWithChildren(database);
    const sql = await runPayments(onServer, meterOf(onServer), options.requests, AT_ONCE);
    costs.file.push(kv.cpu / options.requests);
    costs.platform.push(sql.cpu / options.requests);
    costs.server.push((await cpuWithChildren(database) - before) / options.requests);
    failures += kv.failures + sql.failures;
  }
  return {
    file: median(costs.file),
    platform: median(costs.platform),
    server: median(costs.server),
    bytesPerPayment: (await sizeOf(url) - bytes) / (options.rounds * options.requests),
    failures,
  };
}

/** The lines of the report. */
export function engineReport({ file, platform, server, bytesPerPayment, failures }: EngineCosts): string {
  return [
    `processor time of a payment: ${file.toFixed(1)} ms on a KV file; on PostgreSQL ${
      platform.toFixed(1)
    } ms the ` +
    `platform and ${server.toFixed(1)} ms the database`,
    `platform alone ${(platform / file).toFixed(2)} times (goal 1.05), together ` +
    `${((platform + server) / file).toFixed(2)} times (goal 1.3); ${
      Math.round(bytesPerPayment)
    } bytes a payment ` +
    `in PostgreSQL before anything expires; ${failures} failures`,
    "",
  ].join("\n");
}

function meterOf(env: ServedEnvironment): () => Promise<number> {
  return () => cpuMilliseconds(env.process.pid);
}

/** Opens a server as the bench uses it: over verified TLS, as in production. */
export function openBenchServer(): Promise<TlsPostgresServer> {
  return openTlsPostgresServer(["localhost"], { shared_buffers: "256MB" });
}

/** Makes a database with the platform's schema and returns its URL. */
export async function newBenchDatabase(server: TlsPostgresServer): Promise<string> {
  const url = (await server.newDatabase()).replace("127.0.0.1", "localhost")
    .replace("sslmode=disable", `sslrootcert=${server.authority}`);
  return await migrated(url);
}

/** Returns the size of the table and its indexes in bytes. */
export async function sizeOf(url: string): Promise<number> {
  const connections = await openConnections(readPostgresUrl(url));
  const [row] = await connections.run((sql) =>
    sql<{ bytes: string }[]>`select pg_total_relation_size('hub.entry') as bytes`
  );
  await connections.close();
  return Number(row?.bytes);
}
