/**
 * `deno task bench`: what a request costs, beside what its cryptography and its one commit cost by themselves. The
 * platform runs as `deno task serve` in a process of its own; this process stands in for its proxy and its parties,
 * and has signed every request before the clock starts. Ratios hold on a shared machine, milliseconds do not.
 */
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import { RATE_GROUPS } from "../../../src/platform/config/rate_policies.ts";
import { openServedEnvironment, type ServedEnvironment } from "../../testing/served_environment.ts";
import { openDatabases } from "./databases.ts";
import { fill } from "./fill.ts";
import { type Floor, startFloor } from "./floor_process.ts";
import { idle, runStages, type StageSample } from "./flows.ts";
import { openProgress } from "../../command_line/progress.ts";
import { runProgram } from "../../command_line/run.ts";
import { type BenchOptions, readBenchOptions, usage } from "./options.ts";
import { residentMegabytes } from "./process.ts";
import { measureProcesses, processesReport } from "./processes.ts";
import { growthOf, guard, promises, report, type Row, tableOf } from "./report.ts";
import { AT_ONCE, runRound } from "./rounds.ts";
import { STAGES } from "./stages.ts";
import { countWrites, writesReport } from "./writes.ts";

const SERVE = {
  PLATFORM_RATE_LIMITS: RATE_GROUPS.map((group) => `${group}=1000000/1000000`).join(),
  PLATFORM_LOG_LEVEL: "warn",
};
/** Payments that are signed beforehand at once: what signs and sends shares the computer with what is measured. */
const WARM_AT_ONCE = 200;

/** The results of a bench run. */
interface Findings {
  readonly rows: readonly Row[];
  /** Of the platform at the end, megabytes. */
  readonly resident: number;
}

/** Measures platforms whose stores hold this many consents, in turn, so that what else the computer does meets all. */
async function bench(options: BenchOptions, floor: Floor, fills: readonly number[]): Promise<Findings[]> {
  await using opened = new AsyncDisposableStack();
  const platforms: { env: ServedEnvironment; rows: Row[] }[] = [];
  for (const count of fills) {
    const env = opened.use(await openFilled(options.store, count));
    await warmUp(options, env, floor);
    platforms.push({ env, rows: [] });
  }
  using progress = openProgress("rounds", options.concurrency.length * options.rounds);
  let done = 0;
  for (const concurrency of options.concurrency) {
    const rounds: StageSample[][][] = platforms.map(() => []);
    const size = { requests: options.requests, payments: Math.ceil(options.requests / 4) };
    const floors: number[][] = [];
    for (let round = 0; round < options.rounds; round++) {
      progress.above(() => say(`round ${round + 1} of ${options.rounds}, ${concurrency} at once`));
      for (const [index, { env }] of platforms.entries()) {
        rounds[index]?.push(await runRound(env, size, concurrency));
      }
      floors.push(await floorsOf(floor, options.requests, concurrency));
      progress.done(++done);
    }
    for (const [index, { rows }] of platforms.entries()) {
      rows.push(...tableOf(concurrency, rounds[index] ?? [], floors));
    }
  }
  return await Promise.all(platforms.map(async ({ env, rows }) => ({
    rows,
    resident: await residentMegabytes(env.process.pid),
  })));
}

async function openFilled(store: BenchOptions["store"], count: number): Promise<ServedEnvironment> {
  if (store === "postgres") return await openOnPostgres(count);
  return await openServedEnvironment(SERVE, (path) => fillFile(path, count));
}

async function fillFile(path: string, count: number): Promise<void> {
  const store = await openDenoKv(path);
  await fill(store, count, say);
  await store.close();
}

async function openOnPostgres(count: number): Promise<ServedEnvironment> {
  await using opening = new AsyncDisposableStack();
  const stores = await opening.use(await openDatabases()).newStores();
  if (count > 0) await fillDatabase(stores.PLATFORM_STORE_URL, count);
  const env = opening.use(await openServedEnvironment({ ...SERVE, ...stores }));
  const resources = opening.move();
  return Object.assign(Object.create(env), { [Symbol.asyncDispose]: () => resources.disposeAsync() });
}

/** With the rows that payments leave behind, over a year. */
async function fillDatabase(url: string, count: number): Promise<void> {
  const file = new URL("year.sql", import.meta.url).pathname;
  const args = [url, "--quiet", "--set=ON_ERROR_STOP=1", `--set=payments=${count}`, `--file=${file}`];
  const { success, stderr } = await new Deno.Command("psql", { args }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

async function warmUp({ warm }: BenchOptions, env: ServedEnvironment, floor: Floor): Promise<void> {
  for (let done = 0; done < warm; done += WARM_AT_ONCE) {
    say(`warming up, ${done} of ${warm}`);
    await runStages(env, idle, Math.min(WARM_AT_ONCE, warm - done), AT_ONCE);
    await floorsOf(floor, Math.min(WARM_AT_ONCE, warm - done), AT_ONCE);
  }
}

async function floorsOf(floor: Floor, requests: number, concurrency: number): Promise<number[]> {
  const costs: number[] = [];
  for (const stage of STAGES) costs.push(await floor.run(stage.floor, requests, concurrency) / requests);
  return costs;
}

async function measure(options: BenchOptions): Promise<number> {
  await using floor = await startFloor();
  const [empty, full] = await bench(options, floor, options.fill === 0 ? [0] : [0, options.fill]);
  if (empty === undefined) throw new Error("nothing was measured");
  const failures = options.guard ? guard(empty.rows) : [];
  const grown = full === undefined
    ? []
    : [report(full.rows), ...growthOf(empty.rows, full.rows, options.fill)];
  write([report(empty.rows), ...promises(empty.rows, empty.resident), ...grown, ""].join("\n"));
  for (const failure of failures) say(failure);
  const failed = [...empty.rows, ...full?.rows ?? []].some((row) => row.failures > 0);
  return failures.length > 0 || failed ? 1 : 0;
}

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

/** Fails if a request fails. */
async function counted(options: BenchOptions): Promise<number> {
  const found = await countWrites(options, SERVE, say);
  write(writesReport(found));
  return found.some(({ failures }) => failures > 0) ? 1 : 0;
}

/** Fails if a request fails. */
async function scaled(options: BenchOptions): Promise<number> {
  const rows = await measureProcesses(options, SERVE, say);
  write(processesReport(rows));
  return rows.some(({ failures }) => failures > 0) ? 1 : 0;
}

if (import.meta.main) {
  await runProgram(usage, (args) => {
    const options = readBenchOptions(args);
    if (options.processes.length > 0) return scaled(options);
    return options.writes.length > 0 ? counted(options) : measure(options);
  });
}
