/**
 * Plants faults in the source, one at a time, and reports which of them the tests do not notice. Works on a copy of the
 * tree. First the tests must pass on the unchanged copy: only then does a failure say that they caught the fault.
 */
import { runProgram } from "../../command_line/run.ts";
import { type Mutant, MUTANTS, planted } from "./mutant.ts";
import { choose, type Chosen, usage } from "./options.ts";
import { copyTree, type TestRun, type Tree } from "./tree.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const SHOWN_LINES = 30;

type Print = (line: string) => void;

/** Tries the chosen mutants. @returns whether every one was caught */
async function tryMutants({ mutants, seed }: Chosen, print: Print): Promise<boolean> {
  print(`${mutants.length} mutants${seed === undefined ? "" : `, seed ${seed}`}`);
  await using tree = await copyTree(ROOT);
  if (!await passesUnchanged(tree, mutants, print)) return false;
  const missed: string[] = [];
  for (const mutant of mutants) {
    const run = await tree.test(mutant.tests, {
      file: mutant.file,
      plant: (source) => planted(mutant, source),
    });
    report(mutant, run, print);
    if (run.verdict !== "failed") missed.push(mutant.name);
  }
  print(`${mutants.length - missed.length} of ${mutants.length} caught`);
  if (missed.length > 0) print(`not caught: ${missed.join(",")}`);
  return missed.length === 0;
}

async function passesUnchanged(tree: Tree, mutants: readonly Mutant[], print: Print): Promise<boolean> {
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  const { verdict, seconds, output } = await tree.test(files);
  print(`${verdict.padEnd(9)} ${files.length} test files without a fault (${seconds.toFixed()} s)`);
  if (verdict !== "passed") print(lastLines(output));
  return verdict === "passed";
}

function report({ name, file, from, to }: Mutant, { verdict, seconds, output }: TestRun, print: Print): void {
  const word = verdict === "failed" ? "caught" : verdict === "passed" ? "SURVIVED" : verdict;
  print(`${word.padEnd(9)} ${name} (${seconds.toFixed()} s)`);
  if (verdict === "failed") return;
  print(`          ${file}\n        - ${from}\n        + ${to}`);
  if (verdict !== "passed") print(lastLines(output));
}

function lastLines(output: string): string {
  return output.trimEnd().split("\n").slice(-SHOWN_LINES).map((line) => `          ${line}`).join("\n");
}

if (import.meta.main) {
  await runProgram(usage, (args, print) => tryMutants(choose(args, MUTANTS), print));
}
