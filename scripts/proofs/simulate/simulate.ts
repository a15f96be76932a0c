/** Runs seeds one after the other and keeps count. */
import { prepareBase } from "./base.ts";
import { installGlobals } from "./globals.ts";
import { type Plan, planRun } from "./plan.ts";
import { runPlan, type RunResult } from "./run.ts";
import { shrink, type Shrunk } from "./shrink.ts";

/** The result of many runs. */
export interface Tally {
  seeds: number;
  steps: number;
  /** Simulated milliseconds. */
  passed: number;
  /** Real milliseconds. */
  took: number;
}

/** A seed that does not hold. */
export interface Failure extends Shrunk {
  readonly seed: number;
  readonly check: string;
}

const realNow = performance.now.bind(performance);

/** Runs simulations in this process, which they have to themselves until `use` has ended. */
export async function withSimulation<T>(
  use: (run: (plan: Plan, isTraced?: boolean) => Promise<RunResult>) => Promise<T>,
): Promise<T> {
  using _globals = installGlobals();
  const base = await prepareBase();
  return await use((plan, isTraced) => runPlan(plan, base, isTraced));
}

/**
 * Runs seeds until one fails, none is left, or the time is over.
 *
 * @param seconds no run begins after this time
 */
export async function runSeeds(
  seeds: Iterable<number>,
  seconds = Infinity,
): Promise<{ readonly tally: Tally; readonly failure?: Failure }> {
  return await withSimulation(async (run) => {
    const tally: Tally = { seeds: 0, steps: 0, passed: 0, took: 0 };
    const startedAt = realNow();
    for (const seed of seeds) {
      const { violations: [violation], steps, passed } = await run(planRun(seed));
      tally.seeds++;
      tally.steps += steps;
      tally.passed += passed;
      tally.took = realNow() - startedAt;
      if (violation !== undefined) {
        const { check } = violation;
        return { tally, failure: { seed, check, ...await shrink(seed, check, (plan) => run(plan, true)) } };
      }
      if (tally.took > seconds * 1000) break;
    }
    return { tally };
  });
}
