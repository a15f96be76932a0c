/**
 * The names of tests and the ids in them: from the text of the test files, where every string with an id in brackets
 * counts as the name of a test, or from the JUnit report of a run, which knows what was run and how it ended.
 */
import { lineAt, type SourceFile } from "../sources/source_files.ts";
import { readTokens, type StringPiece } from "../sources/tokens.ts";

/** A test, a step, or a row of a table that names one. */
export interface NamedTest {
  /** The name; from source, the piece of it that holds the ids. */
  readonly name: string;
  /** `path:line`. */
  readonly where: string;
  /** Ids in brackets, lists and ranges taken apart. */
  readonly ids: readonly string[];
  /** Known from a report only. */
  readonly outcome?: "passed" | "failed" | "skipped";
}

const GROUP = /\[([^[\]\n]*)\]/g;
const ID = /^((?:FAPI-)?[A-Z]+-?N?)(\d+)(?:\.\.N?(\d+))?$/;
const NAME_OF_MODULE = /^(?=.*[a-z])[A-Z][A-Za-z0-9]{8,}$/;
const CASE = /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * The ids in a name: `[CA-N11]`, `[DC-N1, DC-N2]`, `[CON-03..12]`, `[RG-N1..N5]`, and names of conformance modules
 * like `[HappyFlow]`. Other words in brackets are passed over.
 */
export function idsIn(name: string): string[] {
  const words = [...name.matchAll(GROUP)].flatMap(([, group = ""]) => group.split(/[\s,;]+/));
  return [...new Set(words.flatMap((word) => NAME_OF_MODULE.test(word) ? [word] : expandIds(word)))];
}

function expandIds(word: string): string[] {
  const [, prefix = "", first = "", last = first] = ID.exec(word) ?? [];
  if (first === "") return [];
  const count = Math.max(0, Number(last) - Number(first) + 1);
  return Array.from(
    { length: count },
    (_, index) => prefix + String(Number(first) + index).padStart(first.length, "0"),
  );
}

/** Every string of these files that holds an id in brackets; comments hold none. */
export function namesInSource(files: readonly SourceFile[]): NamedTest[] {
  return files.flatMap(({ path, text }) =>
    namesInStrings(readTokens(path, text).strings)
      .map(({ name, at, ids }) => ({ name, where: `${path}:${lineAt(text, at)}`, ids }))
  );
}

/** The strings with ids in brackets. */
export function namesInStrings(
  strings: readonly StringPiece[],
): { readonly name: string; readonly at: number; readonly ids: readonly string[] }[] {
  return strings.map(({ text, at }) => ({ name: text, at, ids: idsIn(text) }))
    .filter(({ ids }) => ids.length > 0);
}

/** The tests and steps of a JUnit report that hold an id in their own name; a step's name begins with its test's. */
export function namesInReport(report: string): NamedTest[] {
  const cases = [...report.matchAll(CASE)].map(([, attributes = "", content = ""]) => {
    const file = attribute(attributes, "classname").replace(/^\.\//, "");
    return { name: attribute(attributes, "name"), file, attributes, content };
  });
  const known = new Set(cases.map(({ name, file }) => `${file} ${name}`));
  return cases.flatMap(({ name, file, attributes, content }) => {
    const ids = idsIn(ownName(name, (parent) => known.has(`${file} ${parent}`)));
    const where = `${file}:${attribute(attributes, "line")}`;
    return ids.length === 0 ? [] : [{ name, where, ids, outcome: outcomeOf(content) }];
  });
}

function ownName(name: string, isTest: (name: string) => boolean): string {
  for (let cut = name.lastIndexOf(" > "); cut >= 0; cut = name.lastIndexOf(" > ", cut - 1)) {
    if (isTest(name.slice(0, cut))) return name.slice(cut + 3);
    if (cut === 0) break;
  }
  return name;
}

function outcomeOf(content: string): "passed" | "failed" | "skipped" {
  if (/<(failure|error)\b/.test(content)) return "failed";
  return content.includes("<skipped") ? "skipped" : "passed";
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return value.replaceAll(/&(\w+);/g, (entity, word) => ENTITIES[word] ?? entity);
}
