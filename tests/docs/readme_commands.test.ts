/** What the README and the guides tell a reader to type: needs no program but Deno's and curl, changes no file of the checkout. */
import { assert, assertEquals } from "@std/assert";
import type { Block } from "../../src/portal/guide.ts";
import { sandboxGuide } from "../../src/portal/sandbox_guide.ts";
import { tppGuide } from "../../src/portal/tpp_guide.ts";

const hosts = { baseUrl: "https://api.example.com", authUrl: "https://auth.example.com" };

async function blocks(): Promise<readonly string[]> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const ofReadme = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, code = ""]) => code);
  const isStart = (block: Block): block is { about: string; code: string } =>
    typeof block !== "string" && "code" in block && block.code.includes("npx");
  const guides = [sandboxGuide(hosts), tppGuide(hosts)].flatMap(({ sections }) =>
    sections.flatMap((section) => section.blocks.filter(isStart).map(({ code }) => code))
  );
  assert(ofReadme.length >= 7 && guides.length >= 3, `${ofReadme.length} and ${guides.length} blocks`);
  return [...ofReadme, ...guides];
}

/** One command a line, without comments and texts in quotes. */
function commandsOf(block: string): readonly string[] {
  return block.replaceAll("\\\n", " ").split("\n")
    .map((line) => line.replaceAll(/'[^']*'/g, "x").replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

Deno.test("every command of the README runs on a machine with Node and curl", async () => {
  const commands = (await blocks()).flatMap(commandsOf);
  const programs = commands.flatMap((command) => [
    /^(\S+)/.exec(command)?.[1],
    ...[...command.matchAll(/(?:\$\(|`|\|)\s*(\S+)/g)].map(([, program]) => program),
  ]);
  assertEquals([...new Set(programs)].sort(), ["cd", "curl", "ls", "npx"]);
});

Deno.test("no command of the README writes into the checkout beside .data", async () => {
  const targets = (await blocks()).flatMap(commandsOf).flatMap((command) =>
    [...command.matchAll(/>\s*([^\s&]+)/g)].map(([, target = ""]) => target)
  );
  assert(targets.length > 0);
  assertEquals(targets.filter((target) => !target.startsWith(".data/")), []);
});
