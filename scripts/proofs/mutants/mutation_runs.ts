/** Tries generated faults: first with the tests that reach each, in a process that stays, then with `deno test`. */
import { listFiles, readSource } from "../../upkeep/sources/source_files.ts";
import { shared } from "./lanes.ts";
import type { Mutation } from "./mutations.ts";
import { nearTests } from "./near_tests.ts";
import { isCaught, openSurvey, type Survey } from "./survey.ts";
import { switched } from "./switched.ts";
import { type TestProcess, testProcess } from "./test_process.ts";
import { copyTree, type TestRun, type Tree } from "./tree.ts";

/** A run that takes longer hangs, and so has caught the fault. */
const LIMIT_MS = 180_000;
/** Test files of a source file that are surveyed. */
const SURVEYED = 12;
/** Test files that `deno test` runs for a change that is made when its module is loaded. */
const AT_LOAD = 4;
/** The processes that run tests. Many tests wait, so they are more than the cores of a small machine. */
const LANES = 4;

/** What came of a fault. Invalid: the types do not fit. */
export type Outcome = "caught" | "survived" | "invalid";

/** One worker. */
interface Lane extends AsyncDisposable {
  /** Copied when it is needed. */
  readonly tree: () => Promise<Tree>;
  readonly process: TestProcess;
}

/** The nearest test files of a source file. */
export type Near = (file: string) => readonly string[];

/**
 * Tries each mutation.
 *
 * @param root of the project, which stays as it is
 */
export async function tryMutations(
  root: string,
  mutations: readonly Mutation[],
  near: Near,
  report: (mutation: Mutation, outcome: Outcome) => void,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const numbered = mutations.map((mutation, index) => ({ mutation, number: index + 1 }));
  const tree = stack.use(await copyTree(root));
  for (const [file, group] of Map.groupBy(numbered, ({ mutation }) => mutation.file)) {
    const changes = group.map(({ mutation: { change }, number }) => ({ change, number }));
    const text = switched(readSource(file).text, changes, `file://${tree.folder}/${SWITCH}`);
    await Deno.writeTextFile(`${tree.folder}/${file}`, text);
  }
  const lanes: Lane[] = [];
  for (let lane = 0; lane < LANES; lane++) lanes.push(stack.use(openLane(root, tree.folder)));
  const survey = openSurvey();
  const sound = soundTests();
  await shared(numbered, lanes, async ({ mutation, number }, lane) => {
    report(mutation, await outcomeWith(mutation, number, { survey, near, sound, lane }));
  });
}

const SWITCH = "scripts/proofs/mutants/mutation_switch.ts";

function openLane(root: string, folder: string): Lane {
  let tree: Promise<Tree> | undefined;
  const process = testProcess(folder);
  return {
    tree: () => tree ??= copyTree(root),
    process,
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await (await tree)?.[Symbol.asyncDispose]();
    },
  };
}

/** Those of the project. */
export function nearest(): Near {
  const roots = ["src", "tests", "scripts/testing"];
  return nearTests(roots.flatMap((root) => listFiles(root, [".ts", ".tsx"])).map(readSource), SURVEYED);
}

interface Means {
  readonly survey: Survey;
  readonly near: Near;
  readonly sound: Sound;
  readonly lane: Lane;
}

async function outcomeWith(
  mutation: Mutation,
  number: number,
  { survey, near, sound, lane }: Means,
): Promise<Outcome> {
  const caught = await isCaught(number, near(mutation.file), survey, lane.process);
  if (caught === true) return "caught";
  const tree = await lane.tree();
  if (!await tree.compiles(mutation)) return "invalid";
  if (caught === false && !survey.isAtLoad(number)) return "survived";
  return await tried(mutation, near(mutation.file).slice(0, AT_LOAD), tree, sound);
}

/** First the two nearest test files, then the others. Only a test that passes without the fault can catch it. */
async function tried(
  mutation: Mutation,
  tests: readonly string[],
  tree: Tree,
  sound: Sound,
): Promise<Outcome> {
  for (let files of [tests.slice(0, 2), tests.slice(2)]) {
    while (files.length > 0) {
      const run = await tree.test(files, mutation, LIMIT_MS);
      if (run.verdict === "passed") break;
      const failed = failedFiles(files, run);
      for (const file of failed) if (await sound(file, tree)) return "caught";
      files = files.filter((file) => !failed.includes(file));
    }
  }
  return "survived";
}

/** The test files that failed; all, if the run names none, because it took too long. */
function failedFiles(files: readonly string[], { output }: TestRun): readonly string[] {
  const failed = files.filter((file) =>
    output.includes(`=> ./${file}:`) || output.includes(`./${file} (uncaught`)
  );
  return failed.length > 0 ? failed : files;
}

/** Whether a test file passes without a fault. */
type Sound = (file: string, tree: Tree) => Promise<boolean>;

function soundTests(): Sound {
  const known = new Map<string, boolean>();
  return async (file, tree) => {
    const passes = known.get(file) ?? (await tree.test([file])).verdict === "passed";
    known.set(file, passes);
    return passes;
  };
}
