/** The commands of docs/operations exist: each task in deno.json, and each of `deno task ops` with its required options. */
import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../../scripts/operators/ops/commands.ts";
import { listFiles } from "../../scripts/upkeep/sources/source_files.ts";

const root = new URL("../../", import.meta.url);

/** The commands in the code blocks of a page, each on one line. */
async function commandsOf(path: string): Promise<string[]> {
  const text = (await Deno.readTextFile(new URL(path, root))).replaceAll(/\\\n\s*/g, "");
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = ""]) => block);
  return blocks.flatMap((
    block,
  ) => [...block.replaceAll(/(^|\s)#.*$/gm, "").matchAll(/deno task (\S[^\n|&;#]*)/g)])
    .map(([, command = ""]) => command.trim());
}

const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root))) as {
  readonly tasks: Readonly<Record<string, unknown>>;
};

function faultOf(command: string): string | undefined {
  const [task = "", ...words] = command.split(/\s+/);
  if (!Object.hasOwn(tasks, task)) return `${command}: no such task`;
  if (task !== "ops" || words[0] === "operator") return undefined;
  if (words[0] === "quarter") {
    return /^[0-9]{4}-Q[1-4]$/.test(words[1] ?? "") ? undefined : `${command}: lacks a quarter`;
  }
  const line = words.join(" ");
  const found = COMMANDS.find((one) => line === one.words || line.startsWith(`${one.words} `));
  if (found === undefined) return `${command}: no such command of ops`;
  const missing = found.required.filter((name) => !line.includes(`--${name}`));
  return missing.length === 0 ? undefined : `${command}: lacks --${missing.join(", --")}`;
}

Deno.test("every command of docs/operations exists, with its required options", async () => {
  const pages = listFiles("docs/operations", [".md"]);
  const commands = (await Promise.all(pages.map(commandsOf))).flat();
  assert(commands.length > 80, `${commands.length} commands`);
  assertEquals(commands.map(faultOf).filter((fault) => fault !== undefined), []);
});

Deno.test("what a command of ops sends, no page of docs/operations sends with curl, and no runbook names", async () => {
  const pages = await Promise.all(
    listFiles("docs/operations", [".md"]).map(async (path) => {
      const text = (await Deno.readTextFile(new URL(path, root))).replaceAll("\\\n", "");
      const named = path.includes("/runbooks/")
        ? /\/operations(\/[\w-]+)/g
        : /\bcurl .*\/operations(\/[\w-]+)/g;
      return [...text.matchAll(named)].map(([, path = ""]) => path);
    }),
  );
  const commands = COMMANDS.map((one) => one.plan([], {}).path);
  const found = [...new Set(pages.flat())];
  assertEquals(found.filter((path) => commands.some((one) => one.startsWith(path))), []);
  assertEquals(found, ["/metrics"]);
});

Deno.test("a command that does not exist, or lacks an option, is found", () => {
  assertEquals(faultOf("opps bank hold BANKA"), "opps bank hold BANKA: no such task");
  assertEquals(faultOf("ops bank stop BANKA"), "ops bank stop BANKA: no such command of ops");
  assertEquals(faultOf("ops bank hold BANKA"), "ops bank hold BANKA: lacks --reason");
  assertEquals(faultOf("ops bank hold BANKA --reason x"), undefined);
});
