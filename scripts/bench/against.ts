/**
 * `--against`: this source beside revisions of it and other runtimes. Their rounds take turns, so that other work of the
 * computer meets all.
 */
import { openServedEnvironment, type ServedEnvironment } from "../testing/served_environment.ts";
import { idle, runPayments, runStages, type StageSample, WHOLE } from "./flows.ts";
import { usageOf } from "./process.ts";
import { median } from "./report.ts";
import { STAGES } from "./stages.ts";
import { openSubject, type Subject, thisSource } from "./subjects.ts";
import { openSyncCount } from "./syncs.ts";

/** One stage of one subject at one concurrency. */
export interface Compared {
  readonly stage: string;
  readonly concurrency: number;
  readonly subject: string;
  /** Processor time of a request, milliseconds: median, least and most of the rounds. */
  readonly cpu: number;
  readonly cpuLeast: number;
  readonly cpuMost: number;
  /** The median of the rounds' own ratios to the first subject, which other work disturbs least. */
  readonly ratio: number;
  /** Kilobytes that a request sends to the disk, median. */
  readonly written: number;
  /** Of a whole payment, where strace is installed. */
  readonly syncs?: number;
  readonly failures: number;
}

interface Against {
  readonly against: readonly string[];
  readonly requests: number;
  readonly rounds: number;
  readonly concurrency: readonly number[];
  readonly warm: number;
}

interface Measured {
  readonly name: string;
  readonly env: ServedEnvironment;
}

/** What waits for a background pass has been written by then; otherwise the next round would pay for it. */
const SETTLE_MS = 2500;
const AT_ONCE = 8;
const NAMES = [...STAGES.map(({ name }) => name), WHOLE];

/** Compares. `serve` are variables of all platforms. The first subject is this source on Deno. */
export async function compareSubjects(
  options: Against,
  serve: Readonly<Record<string, string>>,
  say: (text: string) => void,
): Promise<Compared[]> {
  await using opened = new AsyncDisposableStack();
  const subjects: Subject[] = [thisSource];
  for (const named of options.against) subjects.push(opened.use(await openSubject(named)));
  const measured: Measured[] = [];
  for (const { name, started, variables } of subjects) {
    say(`warming up ${name}`);
    const env = opened.use(await openServedEnvironment({ ...serve, ...variables }, undefined, started));
    await runStages(env, idle, options.warm, AT_ONCE);
    measured.push({ name, env });
  }
  const rows: Compared[] = [];
  for (const concurrency of options.concurrency) {
    rows.push(...await compareAt(concurrency, measured, options, say));
  }
  return rows;
}

async function compareAt(
  concurrency: number,
  measured: readonly Measured[],
  { requests, rounds }: Against,
  say: (text: string) => void,
): Promise<Compared[]> {
  const samples: StageSample[][][] = measured.map(() => []);
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}, ${concurrency} at once`);
    for (let turn = 0; turn < measured.length; turn++) {
      const index = (round + turn) % measured.length;
      const subject = measured[index];
      if (subject !== undefined) samples[index]?.push(await oneRound(subject, requests, concurrency));
    }
  }
  const syncs: (number | undefined)[] = [];
  for (const subject of measured) syncs.push(await syncsOf(subject, requests, concurrency));
  return NAMES.flatMap((stage) => {
    const all = samples.map((one) => one.flatMap((round) => round.filter(({ name }) => name === stage)));
    return measured.map(({ name }, index) => ({
      stage,
      concurrency,
      subject: name,
      ...compared(all[index] ?? [], all[0] ?? []),
      ...stage === WHOLE && syncs[index] !== undefined ? { syncs: syncs[index] } : {},
    }));
  });
}

async function oneRound({ env }: Measured, requests: number, concurrency: number): Promise<StageSample[]> {
  const meter = () => usageOf(env.process.pid);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const stages = await runStages(env, meter, requests, concurrency);
  return [...stages, await runPayments(env, meter, Math.ceil(requests / 2), concurrency)];
}

/** Fsyncs of a payment; undefined if they cannot be counted. */
async function syncsOf(
  { env }: Measured,
  requests: number,
  concurrency: number,
): Promise<number | undefined> {
  const count = await openSyncCount(env.process.pid);
  await runPayments(env, idle, requests, concurrency);
  const all = await count?.end();
  return all === undefined ? undefined : all / requests;
}

function compared(own: readonly StageSample[], first: readonly StageSample[]) {
  const costs = own.map(({ cpu, requests }) => cpu / requests);
  const others = first.map(({ cpu, requests }) => cpu / requests);
  return {
    cpu: median(costs),
    cpuLeast: Math.min(...costs),
    cpuMost: Math.max(...costs),
    ratio: median(costs.map((cost, round) => cost / (others[round] ?? Number.NaN))),
    written: median(own.map(({ written, requests }) => written / requests / 1000)),
    failures: own.reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** The table as Markdown. */
export function comparisonReport(rows: readonly Compared[]): string {
  const head = "| stage | at once | platform | CPU ms (least-most) | ratio | kB written | fsyncs | failed |";
  const lines = rows.map((row) => {
    const cpu = `${row.cpu.toFixed(2)} (${row.cpuLeast.toFixed(2)}-${row.cpuMost.toFixed(2)})`;
    const disk = `${row.written.toFixed(0)} | ${row.syncs?.toFixed(2) ?? ""}`;
    return `| ${row.stage} | ${row.concurrency} | ${row.subject} | ${cpu} | ${
      row.ratio.toFixed(2)
    } | ${disk} | ${row.failures} |`;
  });
  return [head, head.replaceAll(/[^|]+/g, " --- "), ...lines, ""].join("\n");
}
