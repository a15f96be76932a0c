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
  --help         print this

Exit status: 0 every change was caught, 1 one survived, 2 the options are wrong.`;

/** A run may take so long, and five times as long as without a fault, before it counts as a hang, and so as caught. */
const LIMIT_MS = 60_000;
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
  tree: CheckedTree,
  print: Print,
): Promise<Score> {
  const programs = ["src", "tests"].flatMap((root) => listFiles(root, [".ts", ".tsx"])).map(readSource);
  const score: Score = { folder, caught: 0, valid: 0, survivors: [] };
  for (const mutation of mutations) {
    const { file, line, kind, from, to } = mutation;
    const outcome = await tried(mutation, nearTests(file, programs), tree);
    print(`${outcome.padEnd(9)} ${file}:${line} ${kind}: ${from.trim()} => ${to}`);
    if (outcome !== "invalid") score.valid += 1;
    if (outcome === "caught") score.caught += 1;
    if (outcome === "survived") score.survivors.push({ file, line, kind, from, to });
  }
  return score;
}

/** First the two nearest test files, then the others. */
async function tried(mutation: Mutation, tests: readonly string[], tree: CheckedTree): Promise<Outcome> {
  for (const files of [tests.slice(0, 2), tests.slice(2)]) {
    const { passing, seconds } = await tree.unchanged(files);
    if (passing.length === 0) continue;
    const outcome = outcomeOf(await tree.test(passing, mutation, LIMIT_MS + 5_000 * seconds));
    if (outcome !== "survived") return outcome;
  }
  return "survived";
}

/** A tree that knows which tests pass in it without a fault: only their failure says that they caught one. */
interface CheckedTree extends Tree {
  unchanged(files: readonly string[]): Promise<Unchanged>;
}

interface Unchanged {
  readonly passing: readonly string[];
  readonly seconds: number;
}

function checked(tree: Tree, print: Print): CheckedTree {
  const known = new Map<string, Promise<Unchanged>>();
  const look = async (files: readonly string[]): Promise<Unchanged> => {
    if (files.length === 0) return { passing: [], seconds: 0 };
    const { verdict, seconds } = await tree.test(files);
    if (verdict === "passed") return { passing: files, seconds };
    const passing: string[] = [];
    for (const file of files) {
      if ((await tree.test([file])).verdict === "passed") passing.push(file);
      else print(`left out: ${file} fails without a fault`);
    }
    return { passing, seconds };
  };
  return {
    ...tree,
    unchanged(files) {
      const key = files.join();
      const found = known.get(key) ?? look(files);
      known.set(key, found);
      return found;
    },
  };
}

async function main(print: Print): Promise<boolean> {
  const options = optionsOf(Deno.args, ["folder", "sample", "seed"], ["json", "help"]);
  if (options.help) return print(usage), true;
  const sample = options.sample === undefined
    ? MAX_SAMPLE
    : wholeNumber("sample", options.sample, MAX_SAMPLE);
  const seed = seedOf(options.seed);
  const tell: Print = options.json ? (): void => {} : print;
  tell(`seed ${seed}`);
  await using copy = await copyTree(ROOT);
  const tree = checked(copy, tell);
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

if (import.meta.main) await runProgram(main);
