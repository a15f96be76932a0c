/**
 * Generates faults of source files and runs the tests near each, in a copy of the tree. Prints the share that the tests
 * notice by folder, and each fault that survives.
 */
import { optionsOf, runProgram, UsageError, wholeNumber } from "../../command_line/run.ts";
import { listFiles, readSource, ROOT } from "../../upkeep/sources/source_files.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { nearTests } from "./near_tests.ts";
import { seedOf, shuffled } from "./options.ts";
import { copyTree, type TestRun, type Tree } from "./tree.ts";

const usage =
  `Changes one place of a source file at a time, in a copy of the tree, and runs the tests near it.

Usage: deno task mutation [options]

  --folder PATHS the folders whose files are changed, with commas between (default: src/platform,src/base)
  --sample N     only N changes of each folder, chosen at random (default: all)
  --seed S       a number that decides the sample; printed, to be given again (default: a random one)
  --json         the result as JSON

Exit status: 0 every change was caught, 1 one survived, 2 the options are wrong.`;

/** A run that takes longer hangs, and so has caught the fault. */
const LIMIT_MS = 180_000;
const MAX_SAMPLE = 1_000_000;

type Print = (line: string) => void;
type Outcome = "caught" | "survived" | "invalid";

interface Score {
  readonly folder: string;
  caught: number;
  valid: number;
  readonly survivors: Pick<Mutation, "file" | "line" | "kind" | "from" | "to">[];
}

/** What a test run says about a fault. A module that does not load proves no detection. */
export function outcomeOf({ verdict, output }: TestRun): Outcome {
  if (verdict === "passed") return "survived";
  if (verdict !== "broken") return "caught";
  const loaded = new Set(
    [...output.matchAll(/^(?:running \d+ tests? from )?(\S+)(?: => .* cancelled .*)?$/gm)].map(([, file]) =>
      file
    ),
  );
  const stopped = [...output.matchAll(/^(\S+) \(uncaught error\)/gm)].map(([, file]) => file);
  return stopped.some((file) => loaded.has(file)) ? "caught" : "invalid";
}

/** The faults of a folder, one at a time. */
async function scoreOf(
  folder: string,
  mutations: readonly Mutation[],
  tree: Tree,
  print: Print,
): Promise<Score> {
  const programs = ["src", "tests"].flatMap((root) => listFiles(root, [".ts", ".tsx"])).map(readSource);
  const sound = soundTests(tree);
  const score: Score = { folder, caught: 0, valid: 0, survivors: [] };
  for (const mutation of mutations) {
    const { file, line, kind, from, to } = mutation;
    const outcome = await tried(mutation, nearTests(file, programs), tree, sound);
    print(`${outcome.padEnd(9)} ${file}:${line} ${kind}: ${from.trim()} => ${to}`);
    if (outcome !== "invalid") score.valid += 1;
    if (outcome === "caught") score.caught += 1;
    if (outcome === "survived") score.survivors.push({ file, line, kind, from, to });
  }
  return score;
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
      const outcome = outcomeOf(run);
      if (outcome === "survived") break;
      if (outcome === "invalid") return outcome;
      const failed = failedFiles(files, run);
      for (const file of failed) if (await sound(file)) return "caught";
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
type Sound = (file: string) => Promise<boolean>;

function soundTests(tree: Tree): Sound {
  const known = new Map<string, boolean>();
  return async (file) => {
    const passes = known.get(file) ?? (await tree.test([file])).verdict === "passed";
    known.set(file, passes);
    return passes;
  };
}

async function main(args: readonly string[], print: Print): Promise<boolean> {
  const options = optionsOf(args, ["folder", "sample", "seed"], ["json"]);
  const sample = options.sample === undefined
    ? MAX_SAMPLE
    : wholeNumber("sample", options.sample, MAX_SAMPLE);
  const seed = seedOf(options.seed);
  const tell: Print = options.json ? (): void => {} : print;
  tell(`seed ${seed}`);
  await using tree = await copyTree(ROOT);
  const scores: Score[] = [];
  for (const folder of (options.folder ?? "src/platform,src/base").split(",")) {
    const mutations = await mutationsOf(folder);
    if (mutations.length === 0) throw new UsageError(`--folder: nothing can be changed in ${folder}`);
    scores.push(await scoreOf(folder, shuffled(mutations, seed).slice(0, sample), tree, tell));
  }
  if (options.json) print(JSON.stringify({ seed, scores }, null, 2));
  for (const { folder, caught, valid } of scores) tell(`${folder}: ${caught} of ${valid} caught`);
  return scores.every(({ survivors }) => survivors.length === 0);
}

if (import.meta.main) await runProgram(usage, main);
