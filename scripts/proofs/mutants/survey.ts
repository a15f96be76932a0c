/** Which tests reach which changes, measured by running each file once without a change, and what they say of each. */
import { printError } from "../../command_line/print.ts";
import { LOADING, type TestResult } from "./mutation_tests.ts";
import type { TestProcess } from "./test_process.ts";

/** A run of a whole test file takes at most that long. */
const MAX_FILE_MS = 600_000;
/** The tests that are run for one change take at most so much of the processor together, by the survey. */
const MAX_CHANGE_MS = 120_000;
/** How much longer a test may take with a change before it counts as hanging. */
const TIME_LIMIT = { factor: 5, plusMs: 20_000 };

/** What the runs without a change have found so far. */
export interface Survey {
  /** The tests of a file that pass and reach a change, the fastest first. The first question for a file runs it. */
  testsOf(number: number, file: string, process: TestProcess): Promise<readonly TestResult[]>;
  /** Whether the place of a change is evaluated when a module is loaded, by the files asked for so far. */
  isAtLoad(number: number): boolean;
}

export function openSurvey(): Survey {
  const runs = new Map<string, Promise<readonly TestResult[]>>();
  const atLoad = new Set<number>();
  const runFile = async (file: string, process: TestProcess): Promise<readonly TestResult[]> => {
    const ran = await process.run({ file, chosen: 0 }, MAX_FILE_MS);
    if (ran === "not loaded") throw new Error(`${file} does not load with the changes of its source files`);
    if (ran === "hangs") printError(`${file} is left out: it takes longer than ${MAX_FILE_MS / 1000} s`);
    if (typeof ran === "string") return [];
    for (const { reached } of ran.filter(({ name }) => name === LOADING)) {
      for (const number of reached) atLoad.add(number);
    }
    return ran.filter(({ passed, name }) => passed && name !== LOADING)
      .sort((one, other) => one.cpuMs - other.cpuMs);
  };
  return {
    async testsOf(number, file, process) {
      const run = runs.get(file) ?? runFile(file, process);
      runs.set(file, run);
      return (await run).filter(({ reached }) => reached.includes(number));
    },
    isAtLoad: (number) => atLoad.has(number),
  };
}

/**
 * Whether a test of the files that reaches the change fails with it and passes without it.
 *
 * @returns undefined if none reaches it
 */
export async function isCaught(
  number: number,
  files: readonly string[],
  survey: Survey,
  process: TestProcess,
): Promise<boolean | undefined> {
  let spent = 0;
  for (const file of files) {
    for (const test of await survey.testsOf(number, file, process)) {
      spent += test.cpuMs;
      if (spent > MAX_CHANGE_MS) return false;
      if (await fails(test, number, process)) return true;
    }
    if (spent === 0 && survey.isAtLoad(number)) return undefined;
  }
  return spent > 0 ? false : undefined;
}

async function fails(test: TestResult, number: number, process: TestProcess): Promise<boolean> {
  if (await passes(test, number, process)) return false;
  if (await passes(test, 0, process)) return true;
  await process.restart(); // an earlier change has left something behind in this process
  return !await passes(test, number, process) && await passes(test, 0, process);
}

async function passes(
  { file, name, ms }: TestResult,
  chosen: number,
  process: TestProcess,
): Promise<boolean> {
  // a process that began again loads for seconds, which are not the test's
  await process.run({ file, name: LOADING, chosen: 0 }, MAX_FILE_MS);
  const ran = await process.run({ file, name, chosen }, ms * TIME_LIMIT.factor + TIME_LIMIT.plusMs);
  return typeof ran !== "string" && ran.every(({ passed }) => passed);
}
