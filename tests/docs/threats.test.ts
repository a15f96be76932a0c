/**
 * docs/threats.md: every claim is a list item that ends with the tests which show it, every one of these tests exists under
 * that name, and every file that it names exists. CI runs all tests, so a claim whose test fails does not pass.
 */
import { assert, assertEquals } from "@std/assert";
import { listFiles, ROOT } from "../../scripts/upkeep/sources/source_files.ts";

const page = await Deno.readTextFile(`${ROOT}docs/threats.md`);
const files = ["src", "scripts", "tests"].flatMap((folder) => listFiles(folder, [".ts", ".tsx"]));

/** The page's list of known limits; its items need no test. */
const ADMISSIONS = "What is not defended against";
const TEST = /`([^`]+\.tsx?)` ((?:“[^”]+”(?:, )?)+)/g;

interface Claim {
  readonly section: string;
  readonly text: string;
}

interface NamedTest {
  readonly path: string;
  readonly name: string;
}

/** The sections after the introduction, each as its paragraphs and list items on one line each. */
function sections(text: string): readonly { readonly title: string; readonly blocks: readonly string[] }[] {
  return text.split(/^## /m).slice(1).map((section) => {
    const [title = "", ...lines] = section.split("\n");
    const blocks = lines.join("\n").split(/\n(?=- )|\n\n+/).map((block) =>
      block.replaceAll(/\s+/g, " ").trim()
    );
    return { title, blocks: blocks.filter((block) => block !== "") };
  });
}

function claimsOf(text: string): readonly Claim[] {
  return sections(text).filter(({ title }) => title !== ADMISSIONS)
    .flatMap(({ title, blocks }) => blocks.map((text) => ({ section: title, text })));
}

function testsOf(text: string): readonly NamedTest[] {
  return [...text.matchAll(TEST)].flatMap(([, path = "", names = ""]) =>
    [...names.matchAll(/“([^”]+)”/g)].map(([, name = ""]) => ({ path, name }))
  );
}

/** Why a claim does not count: it is no list item with a threat, a defence and tests at its end. */
function faultOf({ text }: Claim): string | undefined {
  if (!/^- \*\*.+?\.\*\* /.test(text)) return "is no list item that begins with its threat";
  if (testsOf(text).length === 0) return "names no test";
  if (!/”\.$/.test(text)) return "goes on after its last test";
  const defence = text.replace(/^- \*\*.+?\.\*\* /, "").split(TEST)[0]?.trim() ?? "";
  return defence === "" ? "names no defence" : undefined;
}

/** The files whose path ends so. */
function namedBy(end: string): readonly string[] {
  return files.filter((path) => `/${path}`.endsWith(`/${end}`));
}

/** The names that the files give to their tests and steps. */
async function testNames(path: string): Promise<readonly string[]> {
  const source = (await Promise.all(namedBy(path).map((file) => Deno.readTextFile(ROOT + file)))).join("\n");
  const named =
    /(?:\b(?:test|proxyTest|step)\(\s*(?:\w+,\s*)?|\bname: |\bNAME =\s*)(["`])((?:(?!\1)[^\\\n]|\\.)*)\1/g;
  return [...source.matchAll(named)].map(([, , name = ""]) => name);
}

Deno.test("every claim of docs/threats.md is a list item of a threat, its defence and, at its end, its tests", () => {
  const claims = claimsOf(page);
  assert(claims.length > 40, `${claims.length} claims`);
  const faults = claims.map((claim) => [faultOf(claim), claim] as const).filter(([fault]) =>
    fault !== undefined
  );
  assertEquals(faults.map(([fault, { section, text }]) => `${section}: ${text.slice(0, 80)} … ${fault}`), []);
});

Deno.test("every test that docs/threats.md names exists under that name", async () => {
  const named = testsOf(page.replaceAll(/\s+/g, " "));
  assert(named.length > 80, `${named.length} tests`);
  const missing: string[] = [];
  for (const { path, name } of named) {
    const names = await testNames(path);
    if (!names.some((found) => found.includes(name))) missing.push(`${path}: ${name}`);
  }
  assertEquals(missing, []);
});

Deno.test("every file that docs/threats.md names exists", () => {
  const paths = new Set([...page.matchAll(/`([^`\s]+\.tsx?)`/g)].map(([, path = ""]) => path));
  assert(paths.size > 40, `${paths.size} paths`);
  assertEquals([...paths].filter((path) => namedBy(path).length === 0), []);
});

Deno.test("a claim without a test, with words after its tests, or in a paragraph is a fault", () => {
  const good = "- **Breaks in.** The door is shut. `a.test.ts` “is shut”, “stays shut”.";
  const bad = [
    "- **Breaks in.** The door is shut.",
    "- **Breaks in.** The door is shut. `a.test.ts` “is shut”. And the window too.",
    "- **Breaks in.** `a.test.ts` “is shut”.",
    "The door is shut. `a.test.ts` “is shut”.",
  ];
  const faults = (text: string): readonly (string | undefined)[] =>
    claimsOf(`# Threats\n\nWords.\n\n## Doors\n\n${text}\n\n## ${ADMISSIONS}\n\n- Windows.\n`).map(faultOf);
  assertEquals(faults(good), [undefined]);
  assertEquals(testsOf(good).map(({ name }) => name), ["is shut", "stays shut"]);
  for (const text of bad) assert(faults(text).some((fault) => fault !== undefined), text);
});
