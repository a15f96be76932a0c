/**
 * `--processes`: how many payments a second several platform processes on one PostgreSQL make, and which processor time
 * the platform, the database and this process take for it. If the computer has no free processor time, what each payment
 * takes still shows where the limit is. Requests are signed beforehand.
 */
import {
  asTheProxy,
  openServedEnvironment,
  type ServedEnvironment,
} from "../../testing/served_environment.ts";
import { freePort } from "../../command_line/free_ports.ts";
import { startPlatform } from "../../testing/served_platform.ts";
import { type Databases, openDatabases } from "./databases.ts";
import { idle, runStages } from "./flows.ts";
import type { BenchOptions } from "./options.ts";
import { cpuMilliseconds, cpuOfServer } from "./process.ts";
import { AT_ONCE, median, SETTLE_MS } from "./rounds.ts";

/** Medians of the rounds. Times are those of one payment, milliseconds. */
export interface Throughput {
  readonly processes: number;
  readonly perSecond: number;
  readonly platform: number;
  readonly database: number;
  readonly bench: number;
  readonly failures: number;
}

type Variables = Readonly<Record<string, string>>;
type Sizes = Pick<BenchOptions, "processes" | "requests" | "rounds" | "warm">;

/** Measures. `serve` are variables of all platforms. */
export async function measureProcesses(
  { processes, ...sizes }: Sizes,
  serve: Variables,
  say: (text: string) => void,
): Promise<readonly Throughput[]> {
  await using databases = await openDatabases();
  const rows: Throughput[] = [];
  for (const count of processes) {
    say(`${count} processes`);
    rows.push(await measured(count, databases, sizes, serve));
  }
  return rows;
}

async function measured(
  count: number,
  databases: Databases,
  { requests, rounds, warm }: Omit<Sizes, "processes">,
  serve: Variables,
): Promise<Throughput> {
  const variables = { ...serve, ...await databases.newStores() };
  await using opened = new AsyncDisposableStack();
  const first = opened.use(await openServedEnvironment(variables));
  const { env, pids } = await withOthers(first, variables, count, opened);
  const atOnce = AT_ONCE * count;
  await runStages(env, idle, warm, atOnce);
  const meters = [
    async () => (await Promise.all(pids.map(cpuMilliseconds))).reduce((sum, cpu) => sum + cpu, 0),
    () => cpuOfServer(databases.data),
    () => cpuMilliseconds(Deno.pid),
  ] as const;
  const samples: Omit<Throughput, "processes">[] = [];
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    samples.push(await sampleOf(env, meters, requests, atOnce));
  }
  const of = (name: keyof Omit<Throughput, "processes">): number => median(samples.map((one) => one[name]));
  return {
    processes: count,
    perSecond: of("perSecond"),
    platform: of("platform"),
    database: of("database"),
    bench: of("bench"),
    failures: samples.reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** Starts the other processes. Requests go to each in turn. */
async function withOthers(
  first: ServedEnvironment,
  variables: Variables,
  count: number,
  opened: AsyncDisposableStack,
): Promise<{ readonly env: ServedEnvironment; readonly pids: readonly number[] }> {
  const [sends, pids] = [[first.api], [first.process.pid]];
  while (pids.length < count) {
    const PORT = String(freePort());
    const other = await startPlatform(first.fixture.folder, { ...first.fixture.env, ...variables, PORT });
    opened.defer(async () => {
      other.kill("SIGKILL");
      await other.ended;
    });
    await other.ready;
    sends.push(asTheProxy(PORT));
    pids.push(other.pid);
  }
  let next = 0;
  const api: ServedEnvironment["api"] = (...given) => (sends[next++ % count] ?? first.api)(...given);
  return { env: Object.assign(Object.create(first), { api }), pids };
}

/** The requests of each stage, signed before it begins. The meters are read when it begins and when it ends. */
async function sampleOf(
  env: ServedEnvironment,
  meters: readonly (() => Promise<number>)[],
  payments: number,
  atOnce: number,
): Promise<Omit<Throughput, "processes">> {
  const readings: (readonly number[])[] = [];
  const meter = async (): Promise<number> => {
    readings.push(await Promise.all(meters.map((read) => read())));
    return 0;
  };
  const stages = await runStages(env, meter, payments, atOnce);
  const [platform = 0, database = 0, bench = 0] = meters.map((_, index) =>
    readings.reduce((sum, one, at) => sum + (at % 2 === 0 ? -1 : 1) * (one[index] ?? 0), 0) / payments
  );
  const seconds = stages.reduce((sum, stage) => sum + stage.seconds, 0);
  const failures = stages.reduce((sum, stage) => sum + stage.failures, 0);
  return { perSecond: payments / seconds, platform, database, bench, failures };
}

/** The table as Markdown. */
export function processesReport(rows: readonly Throughput[]): string {
  const lines = rows.map(({ processes, perSecond, platform, database, bench, failures }) => {
    const cores = perSecond * (platform + database + bench) / 1000;
    const figures = [processes, perSecond, platform, database, bench, cores, failures];
    return `| ${
      figures.map((figure, at) => at === 0 || at === 6 ? figure : figure.toFixed(1)).join(" | ")
    } |`;
  });
  return [
    "| Processes | Payments a second | Platform, ms | Database, ms | Bench, ms | Processors busy | Failures |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
    "",
  ].join("\n");
}
