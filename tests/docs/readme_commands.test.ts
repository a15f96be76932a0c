/** The commands that README and integration pages tell a reader to type: only Deno, curl and the shell, no writes outside `.data`. */
import { assert, assertEquals } from "@std/assert";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/tpp.md",
  "docs/bank.md",
  "docs/sandbox.md",
  "docs/signatures.md",
  "docs/testing.md",
];

/** Blocks in `sh` are for any terminal; those in `bash` need the variables and tools that their page names. */
async function blocks(): Promise<readonly string[]> {
  const pages = await Promise.all(
    PAGES.map((page) => Deno.readTextFile(new URL(`../../${page}`, import.meta.url))),
  );
  const ofPages = pages.flatMap((page) =>
    [...page.matchAll(/```sh(?: [^\n]*)?\n(.*?)```/gs)].map(([, code = ""]) => code)
  );
  assert(ofPages.length >= 20, `${ofPages.length} blocks`);
  return ofPages;
}

/** One command a line, without comments and texts in quotes. */
function commandsOf(block: string): readonly string[] {
  return block.replaceAll("\\\n", " ").split("\n")
    .map((line) => line.replaceAll(/'[^']*'/g, "x").replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

Deno.test("every command of README and pages runs on a machine with Node and curl", async () => {
  const commands = (await blocks()).flatMap(commandsOf);
  const programs = commands.flatMap((command) => [
    /^(\S+)/.exec(command)?.[1],
    ...[...command.matchAll(/(?:\$\(|`|\|)\s*(\S+)/g)].map(([, program]) => program),
  ]);
  assertEquals([...new Set(programs)].sort(), ["cd", "curl", "ls", "node", "npm", "npx"]);
});

Deno.test("no command of README and pages writes into the checkout beside .data", async () => {
  const targets = (await blocks()).flatMap(commandsOf).flatMap((command) =>
    [...command.matchAll(/>\s*([^\s&]+)/g)].map(([, target = ""]) => target)
  );
  assert(targets.length > 0);
  assertEquals(targets.filter((target) => !target.startsWith(".data/")), []);
});
