/** Runs the cases of a suite one after the other. A case that throws or takes too long has failed. */
import { z } from "zod";
import { boundedWords, type Case, CASE_SECONDS, type Outcome } from "./case.ts";

/** A case and what it saw. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  readonly requirement: string;
  readonly passed: boolean;
  readonly seen: string;
  readonly milliseconds: number;
}

/**
 * Runs the cases in their order.
 *
 * @param tell gets each result as soon as it is known
 */
export async function runCases<Bench>(
  cases: readonly Case<Bench>[],
  bench: Bench,
  tell: (result: CaseResult) => void = () => {},
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const each of cases) {
    const { id, title, requirement } = each;
    const started = performance.now();
    const { passed, seen } = await outcomeOf(each, bench);
    const milliseconds = Math.round(performance.now() - started);
    const result = { id, title, requirement, passed, seen: boundedWords(seen), milliseconds };
    results.push(result);
    tell(result);
  }
  return results;
}

async function outcomeOf<Bench>(each: Case<Bench>, bench: Bench): Promise<Outcome> {
  const { seconds = CASE_SECONDS } = each;
  const ended = each.run(bench).catch((error) => ({ passed: false, seen: describeError(error) }));
  const outcome = await within(seconds, ended);
  if (outcome !== undefined) return outcome;
  await within(seconds, ended); // the next case must not meet what this one still does
  return { passed: false, seen: `no result after ${seconds} s` };
}

async function within(seconds: number, ended: Promise<Outcome>): Promise<Outcome | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, seconds * 1000);
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

function describeError(error: unknown): string {
  if (error instanceof z.core.$ZodError) {
    return error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}
