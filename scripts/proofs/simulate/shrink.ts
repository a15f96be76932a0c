/** Makes a failing run smaller: leaves out payments and faults as long as the same check still fails. */
import { type Plan, planRun, without } from "./plan.ts";
import type { RunResult } from "./run.ts";

/** A failing run of which every part is needed. */
export interface Shrunk {
  readonly dropped: readonly string[];
  readonly plan: Plan;
  readonly result: RunResult;
}

/** Shrinks the run of a seed that breaks `check`. `run` repeats a plan with its trace. */
export async function shrink(
  seed: number,
  check: string,
  run: (plan: Plan) => Promise<RunResult>,
): Promise<Shrunk> {
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
