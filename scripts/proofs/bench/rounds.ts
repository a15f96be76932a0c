/** Rounds of requests against one platform, and the processor time that they took. */
import type { ServedEnvironment } from "../../testing/served_environment.ts";
import { type Meter, runPayments, runStages, type StageSample } from "./flows.ts";
import type { BenchOptions } from "./options.ts";
import { usageOf } from "./process.ts";

/** How many rounds, and their size. */
export type RoundOptions = Pick<BenchOptions, "requests" | "rounds" | "warm">;

/** How much a round sends: requests of each stage, and whole payments. */
export interface RoundSize {
  readonly requests: number;
  readonly payments: number;
}

/** A running subject. */
export interface Measured extends AsyncDisposable {
  /** Its process. */
  readonly pid: number;
  /** Sends requests of every stage that it serves. */
  round(size: RoundSize, concurrency: number): Promise<StageSample[]>;
  /** Makes payments that are not measured, where it serves them. */
  pay?(count: number, concurrency: number): Promise<void>;
}

/** Requests at once of what is not measured at several concurrencies. */
export const AT_ONCE = 8;

/** The log takes up the entries of a round within two seconds. Otherwise the next round's first stage would pay for it. */
const SETTLE_MS = 2500;

/** Every stage, then whole payments. */
export async function runRound(
  env: ServedEnvironment,
  { requests, payments }: RoundSize,
  concurrency: number,
): Promise<StageSample[]> {
  const meter = meterOf(env);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const stages = await runStages(env, meter, requests, concurrency);
  return [...stages, await runPayments(env, meter, payments, concurrency)];
}

/** Of the platform's process. */
export function meterOf(env: ServedEnvironment): Meter {
  return () => usageOf(env.process.pid);
}

/** Processor time of a request in each sample, milliseconds, its median, least and most; and the failures in all. */
export interface Costs {
  readonly costs: readonly number[];
  readonly cpu: number;
  readonly cpuLeast: number;
  readonly cpuMost: number;
  readonly failures: number;
}

export function costsOf(samples: readonly StageSample[]): Costs {
  const costs = samples.map(({ cpu, requests }) => cpu / requests);
  return {
    costs,
    cpu: median(costs),
    cpuLeast: Math.min(...costs),
    cpuMost: Math.max(...costs),
    failures: samples.reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** The greater of the two in the middle of an even number; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Half the width of a 95 % interval of a binomial number of `n` tosses, in its standard deviations: 1.96 × √n ÷ 2. */
const HALF_WIDTH = 0.98;

/**
 * Returns between which of the values the median of all possible ones lies with 95 % confidence, whatever their
 * distribution: by their ranks. Of fewer than six values, it is the least and the greatest, with less confidence.
 */
export function boundsOfMedian(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const [middle, half] = [(sorted.length - 1) / 2, HALF_WIDTH * Math.sqrt(sorted.length)];
  const at = (rank: number): number => sorted[Math.min(Math.max(rank, 0), sorted.length - 1)] ?? Number.NaN;
  return [at(Math.floor(middle - half)), at(Math.ceil(middle + half))];
}
