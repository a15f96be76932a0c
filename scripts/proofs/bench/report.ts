/** The bench's figures: medians of rounds with their spread, ratios to the floor, tables, promises and the guard. */
import { type StageSample, WHOLE } from "./flows.ts";
import { AT_ONCE, costsOf, median } from "./rounds.ts";
import { STAGES } from "./stages.ts";

/** Ours ÷ floor at concurrency 8, as last measured: what `deno task bench --guard` holds the platform to. */
export const RATIOS: Readonly<Record<string, number>> = {
  "token (client credentials)": 2.2,
  "consent POST": 1.65,
  "consent GET": 1.6,
  "PAR": 3.1,
  "authorize": 1.7,
  "back channel GET": 2.8, // its answer is the one of the consent GET, so its floor has no signature
  "back channel PUT": 1.6,
  "bank return": 1.65,
  "token (code)": 2.9,
  "payment POST": 1.6,
  "payment GET": 1.6,
  "whole payment": 1.7,
};

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
  /** Ours ÷ floor at concurrency 8; a whole payment has none. */
  readonly target?: number;
}

/** How far past a checked-in ratio the guard fails. */
const TOLERANCE = 1.5;
const MOST_GROWTH = 1.2;
const MOST_P99 = 4;
const MOST_MEGABYTES = 250;

/** Rows of one concurrency; `floors[round][stage]` in milliseconds a request. */
export function tableOf(
  concurrency: number,
  rounds: readonly (readonly StageSample[])[],
  floors: readonly (readonly number[])[],
): Row[] {
  const least = STAGES.map((_, index) => median(floors.map((round) => round[index] ?? Number.NaN)));
  const all = least.reduce((sum, floor) => sum + floor, 0);
  const names = [...STAGES, { name: WHOLE }];
  return names.map((stage, index) => {
    const samples = rounds.flatMap((round) => round.filter(({ name }) => name === stage.name));
    const row = rowOf(concurrency, stage.name, samples, least[index] ?? all);
    return "target" in stage ? { ...row, target: stage.target } : row;
  });
}

function rowOf(concurrency: number, stage: string, samples: readonly StageSample[], floor: number): Row {
  const latencies = samples.flatMap((sample) => sample.latencies).toSorted((a, b) => a - b);
  const { cpu, cpuLeast, cpuMost, failures } = costsOf(samples);
  return {
    stage,
    concurrency,
    perSecond: Math.round(median(samples.map(({ requests, seconds }) => requests / seconds))),
    p50: roundValue(quantile(latencies, 0.5)),
    p95: roundValue(quantile(latencies, 0.95)),
    p99: roundValue(quantile(latencies, 0.99)),
    failures,
    cpu: roundValue(cpu),
    cpuLeast: roundValue(cpuLeast),
    cpuMost: roundValue(cpuMost),
    floor: roundValue(floor),
    ratio: roundValue(cpu / floor),
  };
}

/** The table as Markdown. */
export function report(rows: readonly Row[]): string {
  const head =
    "| stage | at once | req/s | p50 ms | p95 | p99 | failed | CPU ms (least-most) | floor | ours ÷ floor | target |";
  const lines = rows.map((row) =>
    `| ${row.stage} | ${row.concurrency} | ${row.perSecond} | ${row.p50} | ${row.p95} | ${row.p99} | ${row.failures} ` +
    `| ${row.cpu} (${row.cpuLeast}-${row.cpuMost}) | ${row.floor} | ${row.ratio} | ${
      row.concurrency === AT_ONCE ? row.target ?? "" : ""
    } |`
  );
  return [head, head.replaceAll(/[^|]+/g, " --- "), ...lines, ""].join("\n");
}

/** The promises for an empty store, and whether this run kept them. */
export function promises(rows: readonly Row[], resident: number): string[] {
  const missed = rows.filter((row) => row.concurrency === AT_ONCE && row.ratio > (row.target ?? Infinity));
  const uneven = rows.filter((row) => row.concurrency === 32 && row.p99 > MOST_P99 * row.p50);
  return [
    `targets at ${AT_ONCE} at once: ${listRows(missed, "missed", ({ stage, ratio }) => `${stage} ${ratio}`)}`,
    `p99 at 32 at once within ${MOST_P99} times p50: ${
      listRows(uneven, "not", ({ stage, p99, p50 }) => `${stage} ${roundValue(p99 / p50)}`)
    }`,
    `resident memory at the end: ${resident} MB (${
      resident <= MOST_MEGABYTES ? "within" : "over"
    } ${MOST_MEGABYTES})`,
  ];
}

function listRows(rows: readonly Row[], word: string, text: (row: Row) => string): string {
  return rows.length === 0 ? "all kept" : `${word}: ${rows.map(text).join(", ")}`;
}

/** A filled store beside an empty one, a sentence for each row. */
export function growthOf(empty: readonly Row[], full: readonly Row[], count: number): string[] {
  return empty.flatMap((row, index) => {
    const grown = full[index];
    if (grown === undefined) return [];
    const [p50, cpu] = [roundValue(grown.p50 / row.p50), roundValue(grown.cpu / row.cpu)];
    const kept = p50 <= MOST_GROWTH && cpu <= MOST_GROWTH ? "" : `, past ${MOST_GROWTH}`;
    const { stage, concurrency } = row;
    return [`${stage}, ${concurrency} at once, ${count} consents ÷ none: p50 ${p50}, CPU ${cpu}${kept}`];
  });
}

/** The rows that are worse than the checked-in ratios allow; empty if there are none. */
export function guard(rows: readonly Row[]): string[] {
  return rows.filter(({ concurrency }) => concurrency === AT_ONCE).flatMap(({ stage, ratio }) => {
    const known = RATIOS[stage];
    if (known === undefined) return [`${stage}: no ratio is checked in`];
    return ratio <= known * TOLERANCE
      ? []
      : [`${stage}: ours ÷ floor is ${ratio}, checked in is ${known}; past ${TOLERANCE} times of it`];
  });
}

/** The middle value, or the upper one of two. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function roundValue(value: number): number {
  return Math.round(value * 100) / 100;
}
