/**
 * Enforces the house rules that a program can see in the text: lengths, names, headers, forbidden words, what few may
 * touch, that references lead somewhere, and that no command gives Deno every permission. Prints each violation with
 * what to do; exits with 1 on any.
 */
import { CONTRACT, readRequirements } from "../requirements/contract.ts";
import { knownReferences, referenceViolations } from "./references.ts";
import { lineAt, listFiles, readSource, ROOT, type SourceFile } from "./source_files.ts";

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 40;
const MAX_HEADER_LINES = 5;
const NAME = /^[a-z0-9]+(_[a-z0-9]+)*(\.test)?\.tsx?$/;
const FOLDER = /^[a-z0-9]+(_[a-z0-9]+)*$/;
const DRAWERS = /(^|\/)(utils?|helpers?|common|services?|types|misc|shared)(\/|\.tsx?$)/;

/** A word that may not stand in a file. */
interface Ban {
  readonly pattern: RegExp;
  /** Looked for in the whole text, comments included, or in code alone. */
  readonly within: "text" | "bare";
  readonly sentence: string;
}

/** For src, tests and scripts. Split so that this file does not break its own rules. */
const BANS: readonly Ban[] = [
  {
    pattern: RegExp("\\b(TO" + "DO|FIX" + "ME)\\b|(//|\\*)\\s*XX" + "X\\b", "g"),
    within: "text",
    sentence: "finish it, or say it under Limits in README.md",
  },
  { pattern: RegExp("not " + "(yet )?implemented", "gi"), within: "text", sentence: "finish it" },
  {
    pattern: /\bas\s+any\b|:\s*any\b|<any>|\bany\[\]|,\s*any\b/g,
    within: "bare",
    sentence: "take `unknown` and decode it",
  },
  {
    pattern: /\bas\s+unknown\s+as\b/g,
    within: "bare",
    sentence: "decode the value instead of casting it twice",
  },
  { pattern: /\.only\s*\(|\bonly:\s*true/g, within: "bare", sentence: "let the other tests run too" },
  { pattern: /\bconsole\s*\./g, within: "bare", sentence: "use the log, or Deno.stdout in a script" },
];

/** Who may use the runtime: everything else is Fetch and WebCrypto. Paths below `src/`. */
const MAY_USE_DENO: readonly { readonly files: RegExp; readonly because: string }[] = [
  { files: /^base\/http\/(listener|open_files|stop_signal)\.ts$/, because: "they listen, and stop" },
  { files: /^base\/store\/deno_kv\.ts$/, because: "the database is Deno's" },
  { files: /^base\/store\/(database_file|last_seen)\.ts$/, because: "they check the database's own files" },
  { files: /^platform\/main\.ts$/, because: "an entry reads the environment and listens" },
  { files: /^platform\/config\.ts$/, because: "the environment" },
  { files: /^directory\/main\.ts$/, because: "an entry reads the environment and listens" },
  { files: /^(client|sandbox)\//, because: "a program with files, ports and client certificates of its own" },
];

/** One broken rule. */
export interface Violation {
  /** `path:line`, from the project's root. */
  readonly where: string;
  readonly sentence: string;
}

/** Violations of the rules for source files of `src`. */
export function sourceViolations(file: SourceFile): Violation[] {
  return [...lengthFaults(file), ...headerFaults(file), ...denoFaults(file)];
}

/** Violations of the rules for all program files: names and forbidden words. */
export function commonViolations(file: SourceFile): Violation[] {
  return [...nameFaults(file.path), ...BANS.flatMap((ban) => bannedIn(file, ban))];
}

/** Commands that give Deno every permission (Decision F7), in a text of any kind. */
export function permissionViolations(path: string, text: string): Violation[] {
  const everything = RegExp(`\\bdeno\\b[^\\n|;&]*?\\s-[a-zA-Z]*${"A"}[a-zA-Z]*\\b|--allow-${"all"}\\b`, "g");
  return [...text.matchAll(everything)].map((match) => ({
    where: `${path}:${lineAt(text, match.index)}`,
    sentence: "gives Deno every permission; name the ones that are needed",
  }));
}

function lengthFaults({ path, text }: SourceFile): Violation[] {
  const lines = linesOf(text);
  const long = lines.length > MAX_FILE_LINES
    ? [{
      where: `${path}:${MAX_FILE_LINES}`,
      sentence: `has ${lines.length} lines; split it below ${MAX_FILE_LINES} by what its parts decide`,
    }]
    : [];
  return [...long, ...lines.flatMap((line, start) => longFunction(path, lines, line, start))];
}

/** deno fmt ends a top-level function with a brace in the first column. */
function longFunction(path: string, lines: readonly string[], line: string, start: number): Violation[] {
  const name = /^(?:export )?(?:async )?function\*? (\w+)/.exec(line)?.[1];
  if (name === undefined) return [];
  const length = lines.slice(start).findIndex((later) => later === "}") + 1;
  if (length <= MAX_FUNCTION_LINES) return [];
  return [{
    where: `${path}:${start + 1}`,
    sentence: `${name} has ${length} lines; name its steps as functions`,
  }];
}

function headerFaults({ path, text }: SourceFile): Violation[] {
  const header = /^(?:\/\/ deno-lint-ignore-file[^\n]*\n)*\/\*\*([\s\S]*?)\*\//.exec(text)?.[1];
  if (header === undefined) {
    return [{
      where: `${path}:1`,
      sentence: "opens without a comment; say what the file decides and never does",
    }];
  }
  const lines = header.split("\n").filter((line) => /\w/.test(line)).length;
  return lines <= MAX_HEADER_LINES ? [] : [{
    where: `${path}:1`,
    sentence: `opens with ${lines} lines of comment; ${MAX_HEADER_LINES} are enough`,
  }];
}

function denoFaults({ path, bare }: SourceFile): Violation[] {
  const below = path.replace(/^src\//, "");
  if (MAY_USE_DENO.some(({ files }) => files.test(below))) return [];
  return [...bare.matchAll(/\bDeno\b/g)].map((match) => ({
    where: `${path}:${lineAt(bare, match.index)}`,
    sentence: "touches Deno; take what is needed from the entry that composes the program",
  }));
}

function nameFaults(path: string): Violation[] {
  const parts = path.split("/");
  const named = NAME.test(parts.at(-1) ?? "") && parts.slice(0, -1).every((part) => FOLDER.test(part));
  const faults = named ? [] : [{ where: `${path}:1`, sentence: "has no snake_case name" }];
  return DRAWERS.test(path)
    ? [...faults, { where: `${path}:1`, sentence: "is a drawer; name it by what it is for" }]
    : faults;
}

function bannedIn(file: SourceFile, { pattern, within, sentence }: Ban): Violation[] {
  return [...file[within].matchAll(pattern)].filter((match) => !isExcused(file, match.index)).map((
    match,
  ) => ({
    where: `${file.path}:${lineAt(file.text, match.index)}`,
    sentence: `says "${match[0].trim()}"; ${sentence}`,
  }));
}

/** Outside `src` a rule of the linter may be set aside, with a reason, for the line below. */
function isExcused({ path, text }: SourceFile, position: number): boolean {
  const above = linesOf(text)[lineAt(text, position) - 2] ?? "";
  return !path.startsWith("src/") && /deno-lint-ignore no-explicit-any -- \w/.test(above);
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}

/** Casts outside `jose/` and `store/`: told, not forbidden. */
function castsIn({ path, bare }: SourceFile): number {
  if (/^src\/(base\/(jose|store)|client|sandbox)\//.test(path)) return 0;
  const withoutNames = bare.replaceAll(/^\s*(?:import|export)\s[^;]*?;/gm, "");
  return [...withoutNames.matchAll(/[\w)\]}"`]\s+as\s+(?!const\b)[\w{[(]/g)].length;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function readText(path: string): string {
  try {
    return Deno.readTextFileSync(ROOT + path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** References in everything that people read: programs, scripts, tests, examples and documents. */
function violationsInReferences(): Violation[] {
  const known = knownReferences(readRequirements().found, readText(`${CONTRACT}/README.md`));
  const folders = ["src", "scripts", "tests", "examples", "docs", ".ci"];
  const documents = [...Deno.readDirSync(ROOT)].map(({ name }) => name).filter((name) =>
    name.endsWith(".md")
  );
  return [...documents.sort(), ...folders.flatMap((folder) => listFiles(folder, [""]))]
    .flatMap((path) => referenceViolations(path, readText(path), known));
}

function main(): number {
  const sources = listFiles("src", [".ts", ".tsx"]).map(readSource);
  const others = ["tests", "scripts", "examples"].flatMap((folder) => listFiles(folder, [".ts", ".tsx"])).map(
    readSource,
  );
  const commands = [
    "deno.json",
    "README.md",
    ...listFiles(".ci", [""]),
    ...listFiles("scripts", [""]),
    ...listFiles("docs", [""]),
  ];
  const violations = [
    ...sources.flatMap(sourceViolations),
    ...[...sources, ...others].flatMap(commonViolations),
    ...commands.flatMap((path) => permissionViolations(path, readText(path))),
    ...violationsInReferences(),
  ];
  const lengths = sources.map(({ text }) => linesOf(text).length).sort((a, b) => a - b);
  const casts = sources.reduce((sum, file) => sum + castsIn(file), 0);
  const lines = violations.map(({ where, sentence }) => `${where}: ${sentence}.\n`);
  lines.push(
    `lines of a file: median ${quantile(lengths, 0.5)}, p90 ${quantile(lengths, 0.9)}, longest ${
      lengths.at(-1) ?? 0
    }\n`,
    `casts outside jose, store and sandbox: ${casts}\n`,
    `house: ${sources.length + others.length} files, ${violations.length} violations\n`,
  );
  Deno.stdout.writeSync(new TextEncoder().encode(lines.join("")));
  return violations.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(main());
