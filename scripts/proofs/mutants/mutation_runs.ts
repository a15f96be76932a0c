/** Tries generated faults: first with the tests that reach each, in a process that stays, then with `deno test`. */
import { basename } from "node:path/posix";
import { listFiles, readSource, ROOT, type SourceFile } from "../../upkeep/sources/source_files.ts";
import { findFitting } from "./fitting.ts";
import type { Mutation } from "./mutations.ts";
import { nearTests } from "./near_tests.ts";
import { isCaught, openSurvey, type Survey } from "./survey.ts";
import { switched } from "./switched.ts";
import { namesakeTests, tellingTests } from "./telling_tests.ts";
import { type TestProcess, testProcess } from "./test_process.ts";
import { copyTree, type TestRun, type Tree } from "./tree.ts";

/** A run that takes longer hangs, and so has caught the fault. */
const LIMIT_MS = 180_000;
/** Test files near a source file that are surveyed, and those that speak of a change. */
const SURVEYED = { near: 20, telling: 12 };
/** Lines before a change whose words belong to it. */
const LINES_BEFORE = 2;
/** Lines of the declaration that has a change, such as a function with its parameters. */
const HEAD_LINES = 6;
/** Test files of each kind that `deno test` runs first for a change that is made when its module is loaded. */
const AT_LOAD = 3;
/** Of the others it runs so many at a time. */
const GROUP_FILES = 4;
/** Then it runs this one: lists of statuses and the like are values of the documents, wherever they are declared. */
const DOCUMENT = "tests/platform/process/documents/openapi_document.test.ts";
/** What came of a fault. Invalid: the types do not fit. */
export type Outcome = "caught" | "survived" | "invalid";

/** One worker. */
interface Worker extends AsyncDisposable {
  /** Copied when it is needed. */
  readonly tree: () => Promise<Tree>;
  readonly process: TestProcess;
}

/** The test files to ask for a change, by two reasons, the best first. */
export type Near = (mutation: Mutation) => {
  /** Nearest to the source file. */
  readonly near: readonly string[];
  /** With the rarest words of the change, or the name of a program that it uses. */
  readonly telling: readonly string[];
};

/** Tries each mutation in copies of the project. @param processes that run tests at the same time */
export async function tryMutations(
  mutations: readonly Mutation[],
  { near, processes }: { readonly near: Near; readonly processes: number },
  report: (mutation: Mutation, outcome: Outcome) => void,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const tree = stack.use(await copyTree(ROOT));
  const fitting = new Set(await findFitting(mutations, tree));
  for (const mutation of mutations) if (!fitting.has(mutation)) report(mutation, "invalid");
  const numbered = [...fitting].map((mutation, index) => ({ mutation, number: index + 1 }));
  for (const [file, group] of Map.groupBy(numbered, ({ mutation }) => mutation.file)) {
    const changes = group.map(({ mutation: { change }, number }) => ({ change, number }));
    const text = switched(readSource(file).text, changes, `file://${tree.folder}/${SWITCH}`);
    await Deno.writeTextFile(`${tree.folder}/${file}`, text);
  }
  const workers: Worker[] = [];
  for (let worker = 0; worker < processes; worker++) workers.push(stack.use(openWorker(tree.folder)));
  const survey = openSurvey();
  const sound = soundTests();
  await divideWork(numbered, workers, async ({ mutation, number }, worker) => {
    report(mutation, await outcomeWith(mutation, number, { survey, near, sound, worker }));
  });
}

const SWITCH = "scripts/proofs/mutants/mutation_switch.ts";

function openWorker(folder: string): Worker {
  let tree: Promise<Tree> | undefined;
  const process = testProcess(folder);
  return {
    tree: () => tree ??= copyTree(ROOT),
    process,
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await (await tree)?.[Symbol.asyncDispose]();
    },
  };
}

/** Those of the project. */
export function nearest(): Near {
  const sources = ["src", "tests", "scripts/testing"].flatMap((root) => listFiles(root, [".ts", ".tsx"]))
    .map(readSource);
  const near = nearTests(sources, SURVEYED.near);
  const telling = tellingTests(sources, SURVEYED.telling);
  const namesakes = namesakeTests(sources);
  return ({ file, line, kind, change: { at } }) => {
    const { text } = readSource(file);
    const name = basename(file, ".ts").replaceAll("_", " ");
    const changed = text.slice(...at);
    const words = `${kind} ${name} ${surroundings(text.split("\n"), line)} ${changed}`;
    const races = /\bcheck\(tx\b|[vV]ersion/.test(changed) ? racesAt(file, sources) : [];
    return { near: near(file), telling: [...races, ...namesakes(file, changed), ...telling(text, words)] };
  };
}

/** A check of a commit is told by the races of its level, whatever words they have. */
function racesAt(file: string, sources: readonly SourceFile[]): readonly string[] {
  const level = file.split("/").slice(1, 3).join("/");
  const isRaces = ({ path }: SourceFile): boolean =>
    path.startsWith(`tests/${level}/`) && /(?:_|\/)races\.test\.ts$/.test(path);
  return sources.filter(isRaces).map(({ path }) => path);
}

/** The lines before a change, the head of its declaration, and the constants of the file that it names. */
function surroundings(lines: readonly string[], line: number): string {
  const changed = lines.slice(Math.max(line - 1 - LINES_BEFORE, 0), line);
  const declares = /^(?:export |async |function |const )/;
  const start = lines.findLastIndex((text, index) => index < line && declares.test(text));
  const head = lines.slice(Math.max(start, 0), line).slice(0, HEAD_LINES);
  const named = new Set(changed.join(" ").match(/\b[A-Z][A-Z_]{3,}\b/g));
  const constants = lines.filter((text) => named.has(/^(?:export )?const ([A-Z_]+)/.exec(text)?.[1] ?? ""));
  return [...changed, ...head, ...constants].join("\n");
}

interface Means {
  readonly survey: Survey;
  readonly near: Near;
  readonly sound: Sound;
  readonly worker: Worker;
}

async function outcomeWith(
  mutation: Mutation,
  number: number,
  { survey, near: chosenBy, sound, worker }: Means,
): Promise<Outcome> {
  const { near, telling } = chosenBy(mutation);
  const chosen = [...new Set([...near, ...telling])];
  const caught = await isCaught(number, chosen, survey, worker.process);
  if (caught === true) return "caught";
  if (caught === false && !survey.isAtLoad(number)) return "survived";
  const first = [...[near, telling].map((files) => files.slice(0, AT_LOAD)), [DOCUMENT]];
  const left = chosen.filter((file) => !first.flat().includes(file));
  const groups = left.flatMap((_, at) => at % GROUP_FILES === 0 ? [left.slice(at, at + GROUP_FILES)] : []);
  return await tried(mutation, [...first, ...groups], await worker.tree(), sound);
}

/** Group by group. Only a test that passes without the fault can catch it. */
async function tried(
  mutation: Mutation,
  groups: readonly (readonly string[])[],
  tree: Tree,
  sound: Sound,
): Promise<Outcome> {
  for (let files of groups) {
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

/** Does every item once, each by a worker that is free. */
async function divideWork<Item, Worker>(
  items: readonly Item[],
  workers: readonly Worker[],
  work: (item: Item, worker: Worker) => Promise<void>,
): Promise<void> {
  const left = items.values();
  await Promise.all(workers.map(async (worker) => {
    for (const item of left) await work(item, worker);
  }));
}
