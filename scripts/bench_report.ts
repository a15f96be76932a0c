/** The bench's figures: medians of rounds with their spread, ratios to the floor, a table, and the regression guard. */
import type { StageSample } from "./bench_flows.ts";
import { STAGES } from "./bench_stages.ts";

/** One stage at one concurrency. Times in milliseconds. */
export interface Row {
  readonly stage: string;
  readonly concurrency: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly failures: number;
  /** The platform's processor time a request: median, least and most of the rounds. */
  readonly cpu: number;
  readonly cpuLeast: number;
  readonly cpuMost: number;
  /** The floor's processor time a request, median. */
  readonly floor: number;
  readonly ratio: number;
  readonly target: number;
}

/** How far past a checked-in ratio the guard fails. */
const TOLERANCE = 1.5;

/** Rows of one concurrency; `floors[round][stage]` in milliseconds for all requests together. */
export function tableOf(
  concurrency: number,
  rounds: readonly (readonly StageSample[])[],
  floors: readonly (readonly number[])[],
): Row[] {
  return STAGES.map(({ name, target }, index) => {
    const samples = rounds.flatMap((round) => round.filter((sample) => sample.name === name));
    const latencies = samples.flatMap((sample) => sample.latencies).toSorted((a, b) => a - b);
    const costs = samples.map(({ cpu, requests }) => cpu / requests);
    const floor = median(floors.map((round) => (round[index] ?? 0) / (samples[0]?.requests ?? 1)));
    return {
      stage: name,
      concurrency,
      perSecond: Math.round(median(samples.map(({ requests, seconds }) => requests / seconds))),
      p50: rounded(quantile(latencies, 0.5)),
      p95: rounded(quantile(latencies, 0.95)),
      p99: rounded(quantile(latencies, 0.99)),
      failures: samples.reduce((sum, sample) => sum + sample.failures, 0),
      cpu: rounded(median(costs)),
      cpuLeast: rounded(Math.min(...costs)),
      cpuMost: rounded(Math.max(...costs)),
      floor: rounded(floor),
      ratio: rounded(median(costs) / floor),
      target,
    };
  });
}

/** The table as Markdown. */
export function report(rows: readonly Row[]): string {
  const head =
    "| stage | at once | req/s | p50 ms | p95 | p99 | failed | CPU ms (least-most) | floor | ours ÷ floor | target |";
  const lines = rows.map((row) =>
    `| ${row.stage} | ${row.concurrency} | ${row.perSecond} | ${row.p50} | ${row.p95} | ${row.p99} | ${row.failures} ` +
    `| ${row.cpu} (${row.cpuLeast}-${row.cpuMost}) | ${row.floor} | ${row.ratio} | ${
      row.concurrency === 8 ? row.target : ""
    } |`
  );
  return [head, head.replaceAll(/[^|]+/g, "---"), ...lines, ""].join("\n");
}

/** What is worse than the checked-in ratios allow; empty when all is well. */
export function guard(rows: readonly Row[]): string[] {
  return rows.flatMap((row) => {
    const known = RATIOS[row.stage];
    return known === undefined || row.ratio <= known * TOLERANCE
      ? []
      : [`${row.stage}: ours ÷ floor is ${row.ratio}, checked in is ${known}; past ${TOLERANCE} times of it`];
  });
}

/** Ours over the floor at concurrency 8, as measured when this was last committed. */
const RATIOS: Readonly<Record<string, number>> = {};

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
