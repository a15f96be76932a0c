/**
 * `--writes`: what one payment writes and calls, counted: rows, kilobytes, WAL, fsyncs, WebCrypto calls, and processor
 * time by request. The platforms take turns, one on each engine. Counts hold on a computer that does other work too.
 */
import { openConnections } from "../../../src/base/store/postgres/connections.ts";
import { readPostgresUrl } from "../../../src/base/store/postgres/settings.ts";
import { isNode, otherProgram } from "../../testing/other_runtime.ts";
import { openServedEnvironment, type ServedEnvironment } from "../../testing/served_environment.ts";
import { openDatabases } from "./databases.ts";
import { idle, runPayments, runStages, WHOLE } from "./flows.ts";
import type { BenchOptions, Engine } from "./options.ts";
import { writtenBytes } from "./process.ts";
import { AT_ONCE, median, meterOf, SETTLE_MS } from "./rounds.ts";
import { STAGES } from "./stages.ts";

/** Named figures of one payment: medians of the rounds. Times are in milliseconds, those of a request named by its stage. */
export type PaymentCosts = Readonly<Record<string, number>>;

export interface Counted {
  readonly engine: Engine;
  readonly costs: PaymentCosts;
  readonly failures: number;
}

interface Platform {
  readonly engine: Engine;
  readonly env: ServedEnvironment;
  /** The database of a server, which writes its own files. */
  readonly server: string | undefined;
}

type Variables = Readonly<Record<string, string>>;
type Writes = Pick<BenchOptions, "writes" | "requests" | "rounds" | "warm">;

const KILOBYTE = 1000;
const POLL_MS = 20;
const COUNTS_FILE = "bench-counts.jsonl";

/** Counts. `serve` are variables of all platforms. */
export async function countWrites(
  { writes, requests, rounds, warm }: Writes,
  serve: Variables,
  say: (text: string) => void,
): Promise<Counted[]> {
  await using opened = new AsyncDisposableStack();
  const databases = writes.includes("postgres") ? opened.use(await openDatabases()) : undefined;
  const platforms: Platform[] = [];
  for (const engine of writes) {
    say(`warming up ${engine}`);
    const stores = engine === "postgres"
      ? await databases?.newStores()
      : { PLATFORM_STORE_URL: `platform.${engine}` };
    const env = opened.use(await open({ ...serve, ...stores }));
    await runStages(env, idle, warm, AT_ONCE);
    const server = engine === "postgres" ? stores?.PLATFORM_STORE_URL : undefined;
    platforms.push({ engine, env, server });
  }
  const samples = platforms.map((): Sample[] => []);
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    for (const [index, platform] of platforms.entries()) {
      samples[index]?.push(await sampleOf(platform, requests));
    }
  }
  return platforms.map(({ engine }, index) => summary(engine, samples[index] ?? []));
}

async function open(variables: Variables): Promise<ServedEnvironment> {
  const counted = new URL("counted_process.ts", import.meta.url).pathname;
  return await openServedEnvironment(variables, undefined, ([program = "", ...rest]) => {
    if (isNode(program)) return [program, "--import", counted, ...rest];
    return otherProgram === undefined
      ? [program, ...rest.toSpliced(1, 0, "--preload", counted)] // after `run`
      : [program, "--preload", counted, ...rest];
  });
}

async function countsOfProcess({ process, fixture }: ServedEnvironment): Promise<PaymentCosts> {
  const lines = async (): Promise<string[]> =>
    (await Deno.readTextFile(`${fixture.folder}/${COUNTS_FILE}`)).split("\n").slice(0, -1);
  const before = (await lines()).length;
  process.kill("SIGUSR2");
  for (;;) {
    const now = await lines();
    if (now.length > before) return JSON.parse(now.at(-1) ?? "{}") as PaymentCosts;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Counts of the database, and those of the server, on which no other database is at work meanwhile. */
async function countsOfServer(url: string): Promise<PaymentCosts> {
  const connections = await openConnections(readPostgresUrl(url));
  const [row] = await connections.run((sql) =>
    sql<Readonly<Record<string, string>>[]>`
      select tup_inserted + tup_updated as "rows: written", tup_deleted as "rows: deleted",
             xact_commit as "rows: transactions", wal_bytes / ${KILOBYTE} as "WAL, kB", wal_sync as fsyncs,
             (select sum(n_tup_upd) from pg_stat_user_tables) as "rows: updated",
             (select sum(n_tup_hot_upd) from pg_stat_user_tables) as "rows: updated in place (HOT)"
        from pg_stat_database, pg_stat_wal where datname = current_database()`
  );
  await connections.close();
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, count]) => [name, Number(count)]));
}

async function countsOf({ env, server }: Platform): Promise<PaymentCosts> {
  const counts = await countsOfProcess(env);
  return server === undefined
    ? { ...counts, "disk, kB": await writtenBytes(env.process.pid) / KILOBYTE }
    : { ...counts, ...await countsOfServer(server) };
}

interface Sample {
  readonly costs: PaymentCosts;
  readonly failures: number;
}

/** Whole payments for the counts, the evidence log's growth included, then requests of each stage for their time. */
async function sampleOf(platform: Platform, payments: number): Promise<Sample> {
  const { env } = platform;
  const meter = meterOf(env);
  const settled = async (): Promise<PaymentCosts> => {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return { ...await countsOf(platform), [`ms: ${WHOLE}`]: await meter() };
  };
  const before = await settled();
  const whole = await runPayments(env, idle, payments, AT_ONCE);
  const after = await settled();
  const stages = await runStages(env, meter, payments, AT_ONCE);
  const syncs = platform.server === undefined ? await syncsOf(env, payments) : {};
  const used = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  const timed = stages.map(({ name, cpu }) => [`ms: ${name}`, cpu] as const);
  const each = [...used, ...timed].map(([name, count]) => [name, count / payments]);
  return {
    costs: { ...Object.fromEntries(each), ...syncs },
    failures: [whole, ...stages].reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** Fsyncs of a payment in the process; none are counted without strace. */
async function syncsOf(env: ServedEnvironment, payments: number): Promise<PaymentCosts> {
  const counting = await openSyncCount(env.process.pid);
  if (counting === undefined) return {};
  await runPayments(env, idle, payments, AT_ONCE);
  return { fsyncs: await counting.end() / payments };
}

function summary(engine: Engine, samples: readonly Sample[]): Counted {
  const names = [...new Set(samples.flatMap(({ costs }) => Object.keys(costs)))];
  return {
    engine,
    costs: Object.fromEntries(
      names.map((name) => [name, median(samples.map(({ costs }) => costs[name] ?? 0))]),
    ),
    failures: samples.reduce((sum, { failures }) => sum + failures, 0),
  };
}

const ORDER = ["rows: ", "kinds: ", "disk, ", "WAL, ", "fsyncs", "calls: ", "ms: "];
const TIMES = [...STAGES.map(({ name }) => name), WHOLE].map((name) => `ms: ${name}`);

/** The table as Markdown. */
export function writesReport(found: readonly Counted[]): string {
  const place = (name: string): number => ORDER.findIndex((start) => name.startsWith(start));
  const names = [...new Set(found.flatMap(({ costs }) => Object.keys(costs)))]
    .filter((name) => found.some(({ costs }) => Number(figure(name, costs)) !== 0))
    .toSorted((one, other) =>
      place(one) - place(other) || TIMES.indexOf(one) - TIMES.indexOf(other) || one.localeCompare(other)
    );
  const head = `| Of a payment | ${found.map(({ engine }) => engine).join(" | ")} |`;
  const lines = names.map((name) =>
    `| ${name} | ${found.map(({ costs }) => figure(name, costs)).join(" | ")} |`
  );
  const failures = found.reduce((sum, one) => sum + one.failures, 0);
  return [head, head.replaceAll(/[^|]+/g, " --- "), ...lines, "", `${failures} failures`, ""].join("\n");
}

function figure(name: string, costs: PaymentCosts): string {
  const digits = name.startsWith("ms: ") || name.startsWith("kinds: ") ? 2 : name.endsWith("kB") ? 0 : 1;
  return costs[name]?.toFixed(digits) ?? "";
}

/** A count that is under way. */
interface SyncCount {
  /** Ends it and resolves with the number of calls. */
  end(): Promise<number>;
}

const CALLS = "fsync,fdatasync";

/** Starts to count, or resolves with undefined where strace is missing or may not trace. */
async function openSyncCount(pid: number): Promise<SyncCount | undefined> {
  const child = spawn(pid);
  if (child === undefined) return undefined;
  const lines = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  const { value: said = "" } = await lines.read(); // "Process … attached", or why not
  let text = said;
  const rest = (async () => {
    for (let part = await lines.read(); !part.done; part = await lines.read()) text += part.value;
  })();
  if (!said.includes("attached")) return void await Promise.all([child.status, rest]);
  return {
    async end(): Promise<number> {
      child.kill("SIGINT");
      await Promise.all([child.status, rest]);
      return [...text.matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+) .*(?:fsync|fdatasync)$/gm)]
        .reduce((sum, [, calls]) => sum + Number(calls), 0);
    },
  };
}

function spawn(pid: number): Deno.ChildProcess | undefined {
  try {
    const args = ["-f", "-c", "-e", `trace=${CALLS}`, "-p", `${pid}`];
    return new Deno.Command("strace", { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
