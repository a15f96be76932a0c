/** Which tests speak of a change: by the rare words that they share with its place, however far they are. No I/O. */
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
