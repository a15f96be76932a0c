/**
 * Compares the cost of a whole payment on a Deno KV file and on PostgreSQL, in one run: processor time of the
 * platform and of the database, rows and bytes that stay. PostgreSQL is reached over verified TLS, as in production.
 */
import { openConnections } from "../../../src/base/store/postgres/connections.ts";
import { readPostgresUrl } from "../../../src/base/store/postgres/settings.ts";
import { openTlsPostgresServer, type TlsPostgresServer } from "../../testing/postgres_tls.ts";
import { openServedEnvironment } from "../../testing/served_environment.ts";
import { migrated } from "../../testing/postgres_server.ts";
import { idle, runPayments, runStages } from "./flows.ts";
import { cpuWithChildren } from "./process.ts";
import { AT_ONCE, median, meterOf, type RoundOptions } from "./rounds.ts";

/** Medians of the rounds, milliseconds of processor time a payment unless said otherwise. */
export interface EngineCosts {
  /** The platform with a KV file, its SQLite thread included. */
  readonly file: number;
  /** The platform alone, with PostgreSQL. */
  readonly platform: number;
  /** PostgreSQL's processes. */
  readonly server: number;
  /** Bytes of the table and its indexes, and rows, that a payment adds. */
  readonly bytesPerPayment: number;
  readonly rowsPerPayment: number;
  /** Of these, the ones that do not expire. Bytes without indexes and free space. */
  readonly keptRowsPerPayment: number;
  readonly keptBytesPerPayment: number;
  readonly failures: number;
}

/** Compares the engines. `serve` are variables of both platforms. */
export async function compareEngines(
  options: RoundOptions,
  serve: Readonly<Record<string, string>>,
  say: (text: string) => void,
): Promise<EngineCosts> {
  await using server = await openBenchServer();
  const url = await newBenchDatabase(server);
  await using onFile = await openServedEnvironment(serve);
  const DATA_KEYS_STORE = await newBenchDatabase(server);
  await using onServer = await openServedEnvironment({
    ...serve,
    PLATFORM_STORE_URL: url,
    PLATFORM_DATA_KEYS_STORE: DATA_KEYS_STORE,
  });
  for (const env of [onFile, onServer]) {
    await runStages(env, idle, options.warm, AT_ONCE);
  }
  const database = Number((await Deno.readTextFile(`${server.folder}/data/postmaster.pid`)).split("\n")[0]);
  const costs: Record<"file" | "platform" | "server", number[]> = { file: [], platform: [], server: [] };
  let failures = 0;
  const before = await contentOf(url);
  for (let round = 1; round <= options.rounds; round++) {
    say(`round ${round} of ${options.rounds}`);
    const kv = await runPayments(onFile, meterOf(onFile), options.requests, AT_ONCE);
    const used = await cpuWithChildren(database);
    const sql = await runPayments(onServer, meterOf(onServer), options.requests, AT_ONCE);
    costs.file.push(kv.cpu / options.requests);
    costs.platform.push(sql.cpu / options.requests);
    costs.server.push((await cpuWithChildren(database) - used) / options.requests);
    failures += kv.failures + sql.failures;
  }
  const after = await contentOf(url);
  const added = (member: keyof Content): number =>
    Math.round((after[member] - before[member]) / (options.rounds * options.requests));
  return {
    file: median(costs.file),
    platform: median(costs.platform),
    server: median(costs.server),
    bytesPerPayment: added("bytes"),
    rowsPerPayment: added("rows"),
    keptRowsPerPayment: added("keptRows"),
    keptBytesPerPayment: added("keptBytes"),
    failures,
  };
}

/** The lines of the report. */
export function engineReport(costs: EngineCosts): string {
  const { file, platform, server, failures } = costs;
  const [alone, together] = [platform / file, (platform + server) / file].map((ratio) => ratio.toFixed(2));
  return [
    `processor time of a payment: ${file.toFixed(1)} ms on a KV file; on PostgreSQL ${
      platform.toFixed(1)
    } ms the ` +
    `platform and ${server.toFixed(1)} ms the database`,
    `platform alone ${alone} times (goal 1.05), together ${together} times (goal 1.3); ${failures} failures`,
    `a payment adds ${costs.rowsPerPayment} rows, ${costs.bytesPerPayment} bytes with indexes; ` +
    `${costs.keptRowsPerPayment} rows of ${costs.keptBytesPerPayment} bytes do not expire`,
    "",
  ].join("\n");
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
  return (await contentOf(url)).bytes;
}

interface Content {
  readonly bytes: number;
  readonly rows: number;
  readonly keptRows: number;
  readonly keptBytes: number;
}

async function contentOf(url: string): Promise<Content> {
  const connections = await openConnections(readPostgresUrl(url));
  const [row] = await connections.run((sql) =>
    sql<Readonly<Record<keyof Content, string>>[]>`
      select pg_total_relation_size('hub.entry') as bytes, count(*) as rows,
             count(*) filter (where expires_at is null) as "keptRows",
             coalesce(sum(pg_column_size(entry.*)) filter (where expires_at is null), 0) as "keptBytes"
        from hub.entry`
  );
  await connections.close();
  return {
    bytes: Number(row?.bytes),
    rows: Number(row?.rows),
    keptRows: Number(row?.keptRows),
    keptBytes: Number(row?.keptBytes),
  };
}
