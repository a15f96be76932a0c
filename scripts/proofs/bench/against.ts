/**
 * `--against`: this source beside revisions of it and other runtimes. Their rounds take turns, so that other work of the
 * computer meets all.
 */
import { openServedEnvironment } from "../../testing/served_environment.ts";
import { idle, runPayments, runStages, type StageSample, WHOLE } from "./flows.ts";
import type { BenchOptions } from "./options.ts";
import { openPeer } from "./peer.ts";
import { AT_ONCE, type Costs, costsOf, type Measured, median, runRound } from "./rounds.ts";
import { STAGES } from "./stages.ts";
import { openSubject, type Subject, thisSource } from "./subjects.ts";
import { openSyncCount } from "./syncs.ts";

/** One stage of one subject at one concurrency. */
export interface Compared extends Relative {
  readonly stage: string;
  readonly concurrency: number;
  readonly subject: string;
  /** Of a whole payment, where strace is installed. */
  readonly syncs?: number;
}

interface Relative extends Omit<Costs, "costs"> {
  /** The median of the rounds' own ratios to the first subject, which other work disturbs least. */
  readonly ratio: number;
  /** Kilobytes that a request sends to the disk, median. */
  readonly written: number;
}

type Against = Pick<BenchOptions, "against" | "requests" | "rounds" | "concurrency" | "warm">;

interface Named {
  readonly name: string;
  readonly subject: Measured;
}

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
  const measured: Named[] = [];
  for (const subject of subjects) {
    say(`warming up ${subject.name}`);
    const running = await openMeasured(subject, serve, options.warm);
    measured.push({ name: subject.name, subject: opened.use(running) });
  }
  const rows: Compared[] = [];
  for (const concurrency of options.concurrency) {
    rows.push(...await compareAt(concurrency, measured, options, say));
  }
  return rows;
}

async function openMeasured(
  { started, variables, peer }: Subject,
  serve: Readonly<Record<string, string>>,
  warm: number,
): Promise<Measured> {
  if (peer !== undefined) return await openPeer(peer, warm);
  const env = await openServedEnvironment({ ...serve, ...variables }, undefined, started);
  await runStages(env, idle, warm, AT_ONCE);
  return {
    pid: env.process.pid,
    round: (size, concurrency) => runRound(env, size, concurrency),
    pay: async (count, concurrency) => void await runPayments(env, idle, count, concurrency),
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

async function compareAt(
  concurrency: number,
  measured: readonly Named[],
  { requests, rounds }: Against,
  say: (text: string) => void,
): Promise<Compared[]> {
  const samples: StageSample[][][] = measured.map(() => []);
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}, ${concurrency} at once`);
    for (let turn = 0; turn < measured.length; turn++) {
      const index = (round + turn) % measured.length;
      const size = { requests, payments: Math.ceil(requests / 2) };
      const sample = await measured[index]?.subject.round(size, concurrency);
      if (sample !== undefined) samples[index]?.push(sample);
    }
  }
  const syncs: (number | undefined)[] = [];
  for (const { subject } of measured) syncs.push(await syncsOf(subject, requests, concurrency));
  return NAMES.flatMap((stage) => {
    const all = samples.map((one) => one.flatMap((round) => round.filter(({ name }) => name === stage)));
    return measured.map(({ name }, index) => ({
      stage,
      concurrency,
      subject: name,
      ...compared(all[index] ?? [], all[0] ?? []),
      ...stage === WHOLE && syncs[index] !== undefined ? { syncs: syncs[index] } : {},
    })).filter((_, index) => all[index]?.length !== 0);
  });
}

/** Fsyncs of a payment; undefined if they cannot be counted. */
async function syncsOf(
  { pid, pay }: Measured,
  requests: number,
  concurrency: number,
): Promise<number | undefined> {
  if (pay === undefined) return undefined;
  const count = await openSyncCount(pid);
  await pay(requests, concurrency);
  const all = await count?.end();
  return all === undefined ? undefined : all / requests;
}

function compared(own: readonly StageSample[], first: readonly StageSample[]): Relative {
  const { costs, ...found } = costsOf(own);
  const others = costsOf(first).costs;
  return {
    ...found,
    ratio: median(costs.map((cost, round) => cost / (others[round] ?? Number.NaN))),
    written: median(own.map(({ written, requests }) => written / requests / 1000)),
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
