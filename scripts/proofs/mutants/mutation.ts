/**
 * Generates faults of source files and runs the tests that reach each, in copies of the tree. Prints the share that the
 * tests notice by folder, and each fault that survives. Faults without effect are listed in {@link ACCEPTED_FILE}.
 */
import { dirname } from "node:path/posix";
import { readSeed, wholeNumber } from "../../command_line/option_values.ts";
import { optionsOf, runProgram, UsageError } from "../../command_line/run.ts";
import { ROOT } from "../../upkeep/sources/source_files.ts";
import { ACCEPTED_FILE, acceptedIn, faultOf, type Mutation, mutationsOf } from "./mutations.ts";
import { nearest, type Outcome, tryMutations } from "./mutation_runs.ts";
import { shuffle } from "./options.ts";

const usage =
  `Changes one place of a source file at a time, in copies of the tree, and runs the tests that reach it.

Usage: deno task mutation [options]

  --folder PATHS the folders whose files are changed, with commas between (default: src/platform,src/base)
  --file PATHS   only these files of them
  --sample N     only N changes of each folder and of each folder in it, chosen at random (default: all)
  --seed S       a number that decides the sample; printed, to be given again (default: a random one)
  --processes N  run tests at the same time (default: 4, because many tests wait)
  --list         prints the changes and tries none
  --json         the result as JSON

Exit status: 0 every change was caught, 1 one survived, 2 the options are wrong.`;

const MAX_SAMPLE = 1_000_000;
const PROCESSES = { usual: "4", most: 64 };

type Print = (line: string) => void;

/** What came of the changes of a folder. */
interface Score extends Record<Outcome | "accepted", number> {
  readonly folder: string;
  readonly survivors: Pick<Mutation, "file" | "line" | "kind" | "from" | "to">[];
}

/** The line of a reader. */
function describeMutation({ file, line, kind, from, to }: Mutation): string {
  return `${file}:${line} ${kind}: ${from.trim()} => ${to}`;
}

async function scored(
  mutations: readonly Mutation[],
  processes: number,
  print: Print,
): Promise<readonly Score[]> {
  const accepted = acceptedIn(await Deno.readTextFile(`${ROOT}${ACCEPTED_FILE}`));
  const scores = new Map<string, Score>();
  const scoreOf = (folder: string): Score => {
    const score = scores.get(folder) ??
      { folder, caught: 0, survived: 0, invalid: 0, accepted: 0, survivors: [] };
    scores.set(folder, score);
    return score;
  };
  const isAccepted = (mutation: Mutation): boolean => accepted.has(faultOf(mutation));
  for (const { file } of mutations.filter(isAccepted)) scoreOf(dirname(file)).accepted += 1;
  const open = mutations.filter((mutation) => !isAccepted(mutation));
  await tryMutations(open, { near: nearest(), processes }, (mutation, outcome) => {
    print(`${outcome.padEnd(9)} ${describeMutation(mutation)}`);
    const score = scoreOf(dirname(mutation.file));
    score[outcome] += 1;
    const { file, line, kind, from, to } = mutation;
    if (outcome === "survived") score.survivors.push({ file, line, kind, from, to });
  });
  return [...scores.values()].sort((one, other) => one.folder < other.folder ? -1 : 1);
}

/** The scores as a table in Markdown. */
function tableOf(scores: readonly Score[]): readonly string[] {
  const total: Score = { folder: "all", caught: 0, survived: 0, invalid: 0, accepted: 0, survivors: [] };
  for (const kind of ["caught", "survived", "invalid", "accepted"] as const) {
    total[kind] = scores.reduce((sum, score) => sum + score[kind], 0);
  }
  const rows = [...scores, total].map(({ folder, caught, survived, accepted, invalid }) => {
    const share = (100 * caught / Math.max(caught + survived, 1)).toFixed(1);
    return `| ${folder} | ${share} % | ${caught} | ${survived} | ${accepted} | ${invalid} |`;
  });
  return [
    "| Folder | Score | Caught | Survived | Without effect | Types do not fit |",
    "| --- | --: | --: | --: | --: | --: |",
    ...rows,
  ];
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
      found.push(...shuffle(group, seed).slice(0, sample));
    }
  }
  return found;
}

async function main(args: readonly string[], print: Print): Promise<boolean> {
  const options = optionsOf(args, ["folder", "file", "sample", "seed", "processes"], ["list", "json"]);
  const seed = readSeed(options.seed);
  const processes = wholeNumber("processes", options.processes ?? PROCESSES.usual, PROCESSES.most);
  const tell: Print = options.json ? (): void => {} : print;
  tell(`seed ${seed}`);
  const mutations = await chosen(options, seed);
  if (options.list) {
    for (const mutation of mutations) print(describeMutation(mutation));
    return true;
  }
  const scores = await scored(mutations, processes, tell);
  if (options.json) print(JSON.stringify({ seed, scores }, null, 2));
  for (const survivor of scores.flatMap(({ survivors }) => survivors)) tell(`survived: ${faultOf(survivor)}`);
  for (const row of tableOf(scores)) tell(row);
  return scores.every(({ survivors }) => survivors.length === 0);
}

if (import.meta.main) await runProgram(usage, main);
