/**
 * Prints for every required criterion the tests that stand for it, and exits with 1 where one has none. Reads the test
 * files' text, or with `--report <JUnit file>` what a run did; `--quiet` prints gaps alone. Runs no test itself.
 */
import { FAMILIES, type Family, INAPPLICABLE, type Inapplicable, isMistaken, requiredIds } from "./ids.ts";
import { type NamedTest, namesInReport, namesInSource } from "./names.ts";
import { listFiles, readSource } from "../checks/source_files.ts";

/** What was found out about the criteria. */
export interface Standing {
  /** In the order of the documents; ids with no test are not in it. */
  readonly covered: ReadonlyMap<string, readonly NamedTest[]>;
  readonly inapplicable: readonly Inapplicable[];
  /** What has to be mended, a sentence each; none where everything stands. */
  readonly gaps: readonly string[];
}

/** Sets tests against criteria. */
export function standing(
  tests: readonly NamedTest[],
  required: readonly string[] = requiredIds(),
  inapplicable: readonly Inapplicable[] = INAPPLICABLE,
): Standing {
  const byId = Map.groupBy(tests.flatMap((test) => test.ids.map((id) => ({ id, test }))), ({ id }) => id);
  const found = (id: string): NamedTest[] => (byId.get(id) ?? []).map(({ test }) => test);
  const excused = new Set(inapplicable.map(({ id }) => id));
  const known = new Set(required);
  return {
    covered: new Map(
      required.map((id) => [id, found(id)] as const).filter(([, standing]) => standing.length > 0),
    ),
    inapplicable,
    gaps: [
      ...required.flatMap((id) => fault(id, found(id), excused.has(id))),
      ...inapplicable.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} is excused and not required`),
      ...[...byId.keys()].filter((id) => isMistaken(id, known))
        .map((id) => `${id} does not exist: ${found(id).map(({ where }) => where).join(", ")}`),
    ],
  };
}

function fault(id: string, tests: readonly NamedTest[], excused: boolean): string[] {
  const failed = tests.filter(({ outcome }) => outcome === "failed");
  if (failed.length > 0) return [`${id} fails: ${failed.map(({ name }) => name).join("; ")}`];
  if (excused) return tests.length === 0 ? [] : [`${id} is excused, and has a test`];
  if (tests.length === 0) return [`${id} has no test`];
  if (tests.every(({ outcome }) => outcome === "skipped")) return [`${id} was not run: ${tests[0]?.name}`];
  return [];
}

function linesOf({ covered, inapplicable, gaps }: Standing, quiet: boolean): string[] {
  const tests = [...covered].flatMap(([id, standing]) =>
    standing.map(({ name, where }, index) => `${(index === 0 ? id : "").padEnd(8)}${where}  ${name.trim()}`)
  );
  const total = covered.size + inapplicable.length;
  return [
    ...(quiet ? [] : [...tests, ""]),
    ...inapplicable.map(({ id, because }) => `${id.padEnd(8)}does not apply: ${because}`),
    ...gaps.map((gap) => `GAP     ${gap}`),
    `${countOf("rule")} rules and ${
      countOf("negative")
    } negative cases, ${total} accounted for, ${gaps.length} gaps`,
  ];
}

function countOf(kind: Family["kind"]): number {
  return FAMILIES.reduce((sum, family) => family.kind === kind ? sum + family.last : sum, 0);
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
      new TextEncoder().encode("usage: requirements.ts [--report <JUnit file>] [--quiet]\n"),
    );
    return 2;
  }
  const found = standing(readTests(report));
  Deno.stdout.writeSync(new TextEncoder().encode(`${linesOf(found, args.includes("--quiet")).join("\n")}\n`));
  return found.gaps.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(main(Deno.args));
