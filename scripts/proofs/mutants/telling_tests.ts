/** Which tests speak of a change: by the rare words that they share with its place, however far they are. No I/O. */
import { basename } from "node:path/posix";
import type { SourceFile } from "../../upkeep/sources/source_files.ts";

/** Start whole programs and browsers. */
const SLOW = /^tests\/(?:platform\/process\/serve|journeys|browser|scripts|docs|attacks|sandbox)\//;
/** Tests that hold what declarations say: of endpoints and schemas, and of records and how long they are stored. */
const DECLARED: readonly (readonly [program: RegExp, test: string])[] = [
  [/@hono\/zod-openapi"/, "tests/platform/process/documents/openapi_document.test.ts"],
  [/defineRecord[<(]|\bendpoint\(/, "tests/docs/generated_documents.test.ts"],
  [/defineRecord[<(]/, "tests/platform/core/payments/record_lifetimes.test.ts"],
];
const MIN_WORD = 4;

/**
 * Returns a function that names the tests with the rarest words of a text, in their text or path, best first; before
 * them the test of a document that is made of the declarations of the file.
 *
 * @param files the programs of `tests`
 * @param max how many tests
 */
export function tellingTests(
  files: readonly SourceFile[],
  max: number,
): (program: string, words: string) => readonly string[] {
  const tests = files.filter(({ path }) => /\.test\.tsx?$/.test(path) && !SLOW.test(path));
  const using = new Map<string, string[]>();
  for (const { path, text } of tests) {
    const words = splitWords(`${text} ${path.replaceAll(/[/._]/g, " ")}`);
    for (const word of words) using.set(word, [...using.get(word) ?? [], path]);
  }
  return (program, words) => {
    const worth = new Map<string, number>();
    for (const word of splitWords(`${words} ${splitNames(words)}`)) {
      const found = using.get(word) ?? [];
      for (const path of found) worth.set(path, (worth.get(path) ?? 0) + 1 / found.length);
    }
    const best = [...worth].sort(([, one], [, other]) => other - one).slice(0, max).map(([path]) => path);
    return [...DECLARED.flatMap(([declares, test]) => declares.test(program) ? [test] : []), ...best];
  };
}

/** So many other programs at most use a name that leads to their tests. */
const MAX_USERS = 4;
const NAME = /\b[a-z]+(?:[A-Z][a-z]+)+\b/g;

/**
 * Returns a function that names the tests of other programs that use the rare names of a change in a program: what it
 * calls is defined there, and tested under that name.
 *
 * @param files the programs of `src` and `tests`
 */
export function namesakeTests(
  files: readonly SourceFile[],
): (program: string, changed: string) => readonly string[] {
  const tests = files.map(({ path }) => path).filter((path) =>
    /\.test\.tsx?$/.test(path) && !SLOW.test(path)
  );
  const using = new Map<string, string[]>();
  for (const { path, text } of files.filter(({ path }) => path.startsWith("src/"))) {
    for (const name of new Set(text.match(NAME))) using.set(name, [...using.get(name) ?? [], path]);
  }
  return (program, changed) => {
    const users = [...new Set(changed.match(NAME))].map((name) =>
      (using.get(name) ?? []).filter((path) => path !== program)
    ).filter((paths) => paths.length <= MAX_USERS);
    const names = new Set(users.flat().map((path) => basename(path).replace(/\.tsx?$/, "")));
    return tests.filter((path) => names.has(basename(path).replace(/\.test\.tsx?$/, "")));
  };
}

/** The words inside names: `readUiLocales` speaks of `uiLocales` and of `Locales`. */
function splitNames(words: string): string {
  return words.match(/\b[a-z]+(?:[A-Z][a-z]+)+/g)?.flatMap((name) => {
    const rest = name.replace(/^[a-z]+/, "");
    return [rest, ...name.split(/(?=[A-Z])/)];
  }).join(" ") ?? "";
}

/**
 * The words of a text without a plural's end, and codes such as `bank.unknown`. `ui_locales`, `uiLocales` and `UiLocales`
 * are one word.
 */
function splitWords(text: string): ReadonlySet<string> {
  const codes = text.match(/[a-z_]+(?:\.[a-z_]+)+/g) ?? [];
  const words = text.split(/[^A-Za-z0-9_]+/).map((word) =>
    word.replaceAll("_", "").toLowerCase().replace(/s$/, "")
  );
  return new Set([...codes, ...words.filter((word) => word.length >= MIN_WORD)]);
}
