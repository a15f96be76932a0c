/**
 * `deno task bench`: what a request costs, beside what its cryptography and its one commit cost by themselves. The
 * platform runs as `deno task serve` in a process of its own; this process stands in for its proxy and its parties,
 * and has signed every request before the clock starts. Ratios hold on a shared machine, milliseconds do not.
 */
import { openServedWorld } from "../tests/support/served_world.ts";
import { startFloor } from "./bench_floor_process.ts";
import { runFlows, type StageSample } from "./bench_flows.ts";
import { guard, report, type Row, tableOf } from "./bench_report.ts";
import { cpuMilliseconds, residentMegabytes } from "./bench_process.ts";
import { STAGES } from "./bench_stages.ts";

interface Options {
  readonly requests: number;
  readonly rounds: number;
  readonly concurrency: readonly number[];
  readonly json: boolean;
  readonly guard: boolean;
}

const USAGE = "deno task bench [--requests 120] [--rounds 3] [--concurrency 1,8,32] [--json] [--guard]";
const UNLIMITED = ["authorization", "registration", "consents", "payments", "reads", "back_channel", "funds"]
  .map((group) => `${group}=1000000/1000000`).join();

function readOptions(args: readonly string[]): Options {
  const known = new Set(["--requests", "--rounds", "--concurrency", "--json", "--guard"]);
  const stranger = args.find((arg) => arg.startsWith("--") && !known.has(arg));
  if (stranger !== undefined) throw new Error(`unknown option ${stranger}\n${USAGE}`);
  const value = (name: string, otherwise: string): string => {
    const index = args.indexOf(name);
    return index < 0 ? otherwise : args[index + 1] ?? otherwise;
  };
  return {
    requests: Number(value("--requests", "120")),
    rounds: Number(value("--rounds", "3")),
    concurrency: value("--concurrency", "1,8,32").split(",").map(Number),
    json: args.includes("--json"),
    guard: args.includes("--guard"),
  };
}

async function bench(options: Options): Promise<readonly Row[]> {
  await using world = await openServedWorld({ RATE_LIMITS: UNLIMITED, LOG_LEVEL: "warn" });
  await using floor = await startFloor();
  const server = { cpu: () => cpuMilliseconds(world.process.pid) };
  await runFlows(world, server, 20, 4); // warm: code compiled, keys fetched
  for (const stage of STAGES) await floor.run(stage.floor, 20, 4);
  const rows: Row[] = [];
  for (const concurrency of options.concurrency) {
    const rounds: (readonly StageSample[])[] = [];
    const floors: number[][] = [];
    for (let round = 0; round < options.rounds; round++) {
      rounds.push(await runFlows(world, server, options.requests, concurrency));
      const costs: number[] = [];
      for (const stage of STAGES) costs.push(await floor.run(stage.floor, options.requests, concurrency));
      floors.push(costs);
    }
    rows.push(...tableOf(concurrency, rounds, floors));
  }
  say(`resident memory of the platform at the end: ${await residentMegabytes(world.process.pid)} MB`);
  return rows;
}

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

if (import.meta.main) {
  const options = readOptions(Deno.args);
  const rows = await bench(options);
  Deno.stdout.writeSync(
    new TextEncoder().encode(options.json ? `${JSON.stringify(rows, null, 1)}\n` : report(rows)),
  );
  const failures = options.guard ? guard(rows) : [];
  for (const failure of failures) say(failure);
  Deno.exit(failures.length > 0 || rows.some((row) => row.failures > 0) ? 1 : 0);
}
