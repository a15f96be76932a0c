/** Rounds of requests against one platform, and the processor time that they took. */
import type { ServedEnvironment } from "../../testing/served_environment.ts";
import { type Meter, runPayments, runStages, type StageSample } from "./flows.ts";
import { cpuMilliseconds } from "./process.ts";

/** How much a round sends: requests of each stage, and whole payments. */
export interface RoundSize {
  readonly requests: number;
  readonly payments: number;
}

/** Requests at once of what is not measured at several concurrencies. */
export const AT_ONCE = 8;

/** The log takes up the entries of a round within two seconds. Otherwise the next round's first stage would pay for it. */
export const SETTLE_MS = 2500;

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
  return () => cpuMilliseconds(env.process.pid);
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
