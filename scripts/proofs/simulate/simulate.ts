/** Runs seeds one after the other and keeps count. */
import { prepareBase } from "./base.ts";
import { installGlobals } from "./globals.ts";
import { type Plan, planRun, without } from "./plan.ts";
import { runPlan, type RunResult } from "./run.ts";

/** A failing run of which every part is needed. */
interface Shrunk {
  readonly dropped: readonly string[];
  readonly plan: Plan;
  readonly result: RunResult;
}

/** Shrinks the run of a seed that breaks `check`. `run` repeats a plan with its trace. */
async function shrink(seed: number, check: string, run: (plan: Plan) => Promise<RunResult>): Promise<Shrunk> {
  const whole = planRun(seed);
  const dropped = new Set<string>();
  let result = await run(whole);
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const { name } of [...whole.faults, ...whole.payments].filter((part) => !dropped.has(part.name))) {
      const tried = await run(without(whole, new Set([...dropped, name])));
      if (!tried.violations.some((violation) => violation.check === check)) continue;
      dropped.add(name);
      result = tried;
      isSmaller = true;
    }
  }
  return { dropped: [...dropped], plan: without(whole, dropped), result };
}

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
 * @param onSeed gets the tally after each run
 */
export async function runSeeds(
  seeds: Iterable<number>,
  seconds = Infinity,
  onSeed: (tally: Tally) => void = () => {},
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
      onSeed(tally);
      if (violation !== undefined) {
        const { check } = violation;
        return { tally, failure: { seed, check, ...await shrink(seed, check, (plan) => run(plan, true)) } };
      }
      if (tally.took > seconds * 1000) break;
    }
    return { tally };
  });
}
