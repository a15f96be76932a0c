/**
 * Generates faults of source files and runs the tests that reach each, in copies of the tree. Prints the share that the
 * tests notice by folder, and each fault that survives.
 */
import { dirname } from "node:path/posix";
import { optionsOf, runProgram, UsageError, wholeNumber } from "../../command_line/run.ts";
import { ROOT } from "../../upkeep/sources/source_files.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { nearest, tryMutations } from "./mutation_runs.ts";
import { seedOf, shuffled } from "./options.ts";

const usage =
  `Changes one place of a source file at a time, in copies of the tree, and runs the tests that reach it.

Usage: deno task mutation [options]

  --folder PATHS the folders whose files are changed, with commas between (default: src/platform,src/base)
  --file PATHS   only these files of them
  --sample N     only N changes of each folder and of each folder in it, chosen at random (default: all)
  --seed S       a number that decides the sample; printed, to be given again (default: a random one)
  --list         prints the changes and tries none
  --json         the result as JSON

Exit status: 0 every change was caught, 1 one survived, 2 the options are wrong.`;

const MAX_SAMPLE = 1_000_000;

type Print = (line: string) => void;

interface Score {
  readonly folder: string;
  caught: number;
  valid: number;
  readonly survivors: Pick<Mutation, "file" | "line" | "kind" | "from" | "to">[];
}

/** The line of a reader. */
function wordsOf({ file, line, kind, from, to }: Mutation): string {
  return `${file}:${line} ${kind}: ${from.trim()} => ${to}`;
}

async function scored(mutations: readonly Mutation[], print: Print): Promise<readonly Score[]> {
  const scores = new Map<string, Score>();
  await tryMutations(ROOT, mutations, nearest(), (mutation, outcome) => {
    print(`${outcome.padEnd(9)} ${wordsOf(mutation)}`);
    const folder = dirname(mutation.file);
    const score = scores.get(folder) ?? { folder, caught: 0, valid: 0, survivors: [] };
    scores.set(folder, score);
    const { file, line, kind, from, to } = mutation;
    if (outcome !== "invalid") score.valid += 1;
    if (outcome === "caught") score.caught += 1;
    if (outcome === "survived") score.survivors.push({ file, line, kind, from, to });
  });
  return [...scores.values()].sort((one, other) => one.folder < other.folder ? -1 : 1);
}

/** The changes that the options ask for. @throws {UsageError} if there are none */
async function chosen(
  options: { readonly folder?: string; readonly file?: string; readonly sample?: string },
  seed: number,
): Promise<readonly Mutation[]> {
  const sample = options.sample === undefined
    ? MAX_SAMPLE
    : wholeNumber("sample", options.sample, MAX_SAMPLE);
  const files = options.file?.split(",");
  const folders = options.folder ??
    (files === undefined ? "src/platform,src/base" : files.map(dirname).join());
  const found: Mutation[] = [];
  for (const folder of new Set(folders.split(","))) {
    const all = await mutationsOf(folder);
    const some = all.filter(({ file }) => files === undefined || files.includes(file));
    if (some.length === 0) throw new UsageError(`--folder: nothing can be changed in ${folder}`);
    for (const group of Map.groupBy(some, ({ file }) => dirname(file)).values()) {
      found.push(...shuffled(group, seed).slice(0, sample));
    }
  }
  return found;
}

async function main(args: readonly string[], print: Print): Promise<boolean> {
  const options = optionsOf(args, ["folder", "file", "sample", "seed"], ["list", "json"]);
  const seed = seedOf(options.seed);
  const tell: Print = options.json ? (): void => {} : print;
  tell(`seed ${seed}`);
  const mutations = await chosen(options, seed);
  if (options.list) {
    for (const mutation of mutations) print(wordsOf(mutation));
    return true;
  }
  const scores = await scored(mutations, tell);
  if (options.json) print(JSON.stringify({ seed, scores }, null, 2));
  for (const { folder, caught, valid } of scores) {
    tell(`${folder}: ${caught} of ${valid} caught (${(100 * caught / Math.max(valid, 1)).toFixed(1)} %)`);
  }
  return scores.every(({ survivors }) => survivors.length === 0);
}

if (import.meta.main) await runProgram(usage, main);
