/** The commands that README, integration pages and guides tell a reader to type: only Deno, curl and the shell, no writes outside `.data`. */
import { assert, assertEquals } from "@std/assert";
import type { Block } from "../../src/portal/guide.ts";
import { sandboxGuide } from "../../src/portal/sandbox_guide.ts";
import { tppGuide } from "../../src/portal/tpp_guide.ts";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/tpp.md",
  "docs/bank.md",
  "docs/sandbox.md",
  "docs/testing.md",
];
const hosts = { baseUrl: "https://api.example.com", authUrl: "https://auth.example.com" };

async function blocks(): Promise<readonly string[]> {
  const pages = await Promise.all(
    PAGES.map((page) => Deno.readTextFile(new URL(`../../${page}`, import.meta.url))),
  );
  const ofPages = pages.flatMap((page) =>
    [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, code = ""]) => code)
  );
  const isStart = (block: Block): block is { about: string; code: string } =>
    typeof block !== "string" && "code" in block && block.code.includes("npx");
  const guides = [sandboxGuide(hosts), tppGuide(hosts)].flatMap(({ sections }) =>
    sections.flatMap((section) => section.blocks.filter(isStart).map(({ code }) => code))
  );
  assert(ofPages.length >= 10 && guides.length >= 3, `${ofPages.length} and ${guides.length} blocks`);
  return [...ofPages, ...guides];
}
/** One command a line, without comments and texts in quotes. */
function commandsOf(block: string): readonly string[] {
  return block.replaceAll("\\\n", " ").split("\n")
    .map((line) => line.replaceAll(/'[^']*'/g, "x").replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

Deno.test("every command of README, pages and guides runs on a machine with Node and curl", async () => {
  const commands = (await blocks()).flatMap(commandsOf);
  const programs = commands.flatMap((command) => [
    /^(\S+)/.exec(command)?.[1],
    ...[...command.matchAll(/(?:\$\(|`|\|)\s*(\S+)/g)].map(([, program]) => program),
  ]);
  assertEquals([...new Set(programs)].sort(), ["cd", "curl", "ls", "node", "npm", "npx"]);
});

Deno.test("no command of README, pages and guides writes into the checkout beside .data", async () => {
  const targets = (await blocks()).flatMap(commandsOf).flatMap((command) =>
    [...command.matchAll(/>\s*([^\s&]+)/g)].map(([, target = ""]) => target)
  );
  assert(targets.length > 0);
  assertEquals(targets.filter((target) => !target.startsWith(".data/")), []);
});
