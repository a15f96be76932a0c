/**
 * Enforces the house rules that `lint_plugin.ts` cannot see in one program: circles of imports, references that lead
 * nowhere, commands that give Deno every permission, comments that switch the linter off, and documents that the portal
 * does not serve. Prints each violation
 * with what to do, and exits with 1 if there is one.
 */
import { CONTRACT, readRequirements } from "../requirements/contract.ts";
import { folderGraph, importCircles, importGraph } from "./import_circles.ts";
import { knownReferences, referenceViolations } from "./references.ts";
import { lineAt, listFiles, readSource, ROOT, type SourceFile, splitLines } from "../sources/source_files.ts";
import type { Violation } from "./violation.ts";

const FOLDERS = ["src", "scripts", "tests", "examples", "docs", ".ci"];
/** Files with commands of the project. Tests plant commands that break the rule. */
const COMMANDS = /^(deno\.json|README\.md|(\.ci|scripts|docs)\/.*)$/;

/** The documents that the portal serves (Decision W4). */
const DOCUMENTS = "src/portal/documents.ts";

async function main(): Promise<number> {
  const circles = importGraph().then((
    graph,
  ) => [...importCircles(graph), ...importCircles(folderGraph(graph))]);
  const atRoot = [...Deno.readDirSync(ROOT)].map(({ name }) => name)
    .filter((name) => name.endsWith(".md") || name === "deno.json").sort();
  const files = [...atRoot, ...FOLDERS.flatMap((folder) => listFiles(folder, [""]))].map(readSource);
  const violations = [...files.flatMap(violationsIn()), ...await circles];
  const lines = violations.map(({ where, sentence }) => `${where}: ${sentence}\n`);
  const summary = `house: ${files.length} files, ${violations.length} violations\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(lines.join("") + sizes(files) + summary));
  return violations.length === 0 ? 0 : 1;
}

function violationsIn(): (file: SourceFile) => Violation[] {
  const index = readSource(`${CONTRACT}/README.md`).text;
  const known = knownReferences(readRequirements().found, index);
  const served = readSource(DOCUMENTS).text;
  return ({ path, text }) => [
    ...(/^docs\/.*\.md$/.test(path) && !served.includes(`"../../${path}"`)
      ? [{ where: path, sentence: `The portal does not serve this document. Add it to ${DOCUMENTS}.` }]
      : []),
    ...(path === "deno.json" ? [] : referenceViolations(path, text, known)),
    ...(COMMANDS.test(path) ? permissionViolations(path, text) : []),
    ...(/\.tsx?$/.test(path) ? ignoreViolations(path, text) : []),
  ];
}

function sizes(files: readonly SourceFile[]): string {
  const lengths = files.filter(({ path }) => /^src\/.*\.tsx?$/.test(path))
    .map(({ text }) => splitLines(text).length).sort((a, b) => a - b);
  const at = (share: number): number => lengths[Math.floor((lengths.length - 1) * share)] ?? 0;
  return `lines of a file of src: median ${at(0.5)}, p90 ${at(0.9)}, longest ${at(1)}\n`;
}

/** Rules of the linter that a comment with a reason may switch off, and where. */
const IGNORABLE: Readonly<Record<string, RegExp>> = {
  "require-await": /^/,
  "no-explicit-any": /^(?!src\/)/,
  "explicit-module-boundary-types": /^src\/platform\/process\/shared_parts\.ts$/,
};
const IGNORE = /\/\/\s*deno-lint-ignore(?:-file)?\b([^\n]*)/g;

/** Commands that give Deno every permission (Decision F7), in a text of any kind. */
export function permissionViolations(path: string, text: string): Violation[] {
  const everything = RegExp(`\\bdeno\\b[^\\n|;&]*?\\s-[a-zA-Z]*${"A"}[a-zA-Z]*\\b|--allow-${"all"}\\b`, "g");
  return [...text.matchAll(everything)].map((match) => ({
    where: `${path}:${lineAt(text, match.index)}`,
    sentence: "This command gives Deno every permission. Name the ones that are needed.",
  }));
}

/** Comments that switch off a rule of the linter that holds without exception, or that give no reason. */
export function ignoreViolations(path: string, text: string): Violation[] {
  return [...text.matchAll(IGNORE)].flatMap(({ 1: rest = "", index }) => {
    const [rules = "", reason = ""] = rest.split(" -- ");
    const names = rules.trim().split(/[\s,]+/);
    if (/\w/.test(reason) && names.every((name) => IGNORABLE[name]?.test(path) === true)) return [];
    const sentence = `This comment may switch off only ${
      Object.keys(IGNORABLE).filter((name) => IGNORABLE[name]?.test(path)).join(" or ")
    }, followed by " -- " and a reason.`;
    return [{ where: `${path}:${lineAt(text, index)}`, sentence }];
  });
}

if (import.meta.main) Deno.exit(await main());
