/** Which tests reach which changes, measured by running the tests once without a change, and what they say of each. */
import { shared } from "./lanes.ts";
import { LOADING, type TestResult } from "./mutation_tests.ts";
import type { TestProcess } from "./test_process.ts";

/** A run of a whole test file takes at most that long. */
const MAX_FILE_MS = 180_000;
/** The tests that are run for one change take at most that long together, by the survey. */
const MAX_CHANGE_MS = 60_000;
/** How much longer a test may take with a change before it counts as hanging. */
const PATIENCE = { factor: 5, plusMs: 10_000 };

/** What the survey found. */
export interface Survey {
  /** The tests that pass and reach a change, the fastest first. */
  testsOf(number: number): readonly TestResult[];
  /** Whether the place of a change is evaluated when its module is loaded. */
  isAtLoad(number: number): boolean;
}

/** Runs the test files, divided among the processes. */
export async function surveyed(files: readonly string[], processes: readonly TestProcess[]): Promise<Survey> {
  const results: TestResult[] = [];
  await shared(files, processes, async (file, process) => {
    const ran = await process.run({ file, chosen: 0 }, MAX_FILE_MS);
    if (typeof ran !== "string") results.push(...ran);
  });
  const tests = new Map<number, TestResult[]>();
  for (const result of results.filter(({ passed, name }) => passed && name !== LOADING)) {
    for (const number of result.reached) tests.set(number, [...tests.get(number) ?? [], result]);
  }
  const atLoad = new Set(results.filter(({ name }) => name === LOADING).flatMap(({ reached }) => reached));
  return {
    testsOf: (number) => (tests.get(number) ?? []).toSorted((one, other) => one.ms - other.ms),
    isAtLoad: (number) => atLoad.has(number),
  };
}

/** Whether a test that reaches the change fails with it and passes without it. */
export async function isCaught(
  number: number,
  tests: readonly TestResult[],
  process: TestProcess,
): Promise<boolean> {
  let spent = 0;
  for (const test of tests) {
    spent += test.ms;
    if (spent > MAX_CHANGE_MS) return false;
    if (await passes(test, number, process)) continue;
    if (await passes(test, 0, process)) return true;
    await process.restart(); // an earlier change has left something behind in this process
    if (!await passes(test, number, process) && await passes(test, 0, process)) return true;
  }
  return false;
}

async function passes(
  { file, name, ms }: TestResult,
  chosen: number,
  process: TestProcess,
): Promise<boolean> {
  const ran = await process.run({ file, name, chosen }, ms * PATIENCE.factor + PATIENCE.plusMs);
  return typeof ran !== "string" && ran.every(({ passed }) => passed);
}
