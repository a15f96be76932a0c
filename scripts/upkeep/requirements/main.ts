/**
 * Prints for every requirement of `docs/contract` and `docs/decisions` the tests that stand for it, and exits with 1 if
 * one has none. Reads the test files' text, or with `--report <JUnit file>` what a run did; `--quiet` prints gaps alone.
 * Runs no test itself.
 */
import { listFiles, readSource } from "../sources/source_files.ts";
import { readRequirements, type Requirement, type Requirements } from "./contract.ts";
import { type NamedTest, namesInReport, namesInSource } from "./names.ts";

/** Requirements with their tests. */
export interface Standing {
  /** In the order of the documents; ids with no test of their own are not in it. */
  readonly covered: ReadonlyMap<string, readonly NamedTest[]>;
  /** Problems, a sentence each; empty if every requirement has a test that passes. */
  readonly gaps: readonly string[];
}

/** Finds the tests of each requirement, and the requirements without one. */
export function standing(tests: readonly NamedTest[], { found, faults }: Requirements): Standing {
  const byId = Map.groupBy(tests.flatMap((test) => test.ids.map((id) => ({ id, test }))), ({ id }) => id);
  const testsOf = (id: string): NamedTest[] => (byId.get(id) ?? []).map(({ test }) => test);
  const known = new Set(found.map(({ id }) => id));
  return {
    covered: new Map(
      found.map(({ id }) => [id, testsOf(id)] as const).filter(([, standing]) => standing.length > 0),
    ),
    gaps: [
      ...faults,
      ...found.flatMap((requirement) => fault(requirement, testsOf)),
      ...[...byId.keys()].filter((id) => isMistaken(id, known))
        .map((id) => `${id} does not exist: ${testsOf(id).map(({ where }) => where).join(", ")}`),
    ],
  };
}

function fault(
  { id, checkedBy, inapplicable }: Requirement,
  testsOf: (id: string) => readonly NamedTest[],
): string[] {
  const tests = testsOf(id);
  const failed = tests.filter(({ outcome }) => outcome === "failed");
  if (failed.length > 0) return [`${id} fails: ${failed.map(({ name }) => name).join("; ")}`];
  if (inapplicable !== undefined) {
    return tests.length === 0 ? [] : [`${id} is not applicable, and has a test`];
  }
  if (tests.length === 0) {
    const empty = checkedBy.filter((other) => testsOf(other).length === 0);
    if (empty.length > 0) return [`${id} is checked by ${empty.join(", ")}, which has no test of its own`];
    return checkedBy.length > 0 ? [] : [`${id} has no test`];
  }
  if (tests.every(({ outcome }) => outcome === "skipped")) return [`${id} was not run: ${tests[0]?.name}`];
  return [];
}

/** Whether this looks like an id of the documents without being one: their letters with another number. */
function isMistaken(id: string, known: ReadonlySet<string>): boolean {
  const family = lettersOf(id);
  return !known.has(id) && [...known].some((other) => lettersOf(other) === family);
}

function lettersOf(id: string): string {
  return id.replace(/\d+$/, "");
}

function formatStanding(
  found: readonly Requirement[],
  { covered, gaps }: Standing,
  quiet: boolean,
): string[] {
  const tests = found.flatMap(({ id, checkedBy }) => [
    ...(checkedBy.length === 0 ? [] : [`${id.padEnd(8)}checked by ${checkedBy.join(", ")}`]),
    ...(covered.get(id) ?? []).map(({ name, where }, index) =>
      `${(index === 0 && checkedBy.length === 0 ? id : "").padEnd(8)}${where}  ${name.trim()}`
    ),
  ]);
  return [
    ...(quiet ? [] : [...tests, ""]),
    ...found.flatMap(({ id, inapplicable: why }) =>
      why === undefined ? [] : [`${id.padEnd(8)}not applicable: ${why}`]
    ),
    ...gaps.map((gap) => `GAP     ${gap}`),
    `${countOf(found, "rule")} rules, ${countOf(found, "negative")} negative cases (${
      found.filter(({ isAccepted }) => isAccepted).length
    } of them accepted neighbours) and ${countOf(found, "decision")} decisions, ${gaps.length} gaps`,
  ];
}

function countOf(found: readonly Requirement[], kind: Requirement["kind"]): number {
  return found.filter((requirement) => requirement.kind === kind).length;
}

function readTests(report: string | undefined): NamedTest[] {
  return report === undefined
    ? namesInSource(listFiles("tests", [".ts", ".tsx"]).map(readSource))
    : namesInReport(Deno.readTextFileSync(report));
}

function main(args: readonly string[]): number {
  const [flag, report] = args.filter((argument) => argument !== "--quiet");
  if (flag !== undefined && (flag !== "--report" || report === undefined)) {
    Deno.stderr.writeSync(
      new TextEncoder().encode("usage: requirements/main.ts [--report <JUnit file>] [--quiet]\n"),
    );
    return 2;
  }
  const requirements = readRequirements();
  const result = standing(readTests(report), requirements);
  const lines = formatStanding(requirements.found, result, args.includes("--quiet"));
  Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
  return result.gaps.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(main(Deno.args));
