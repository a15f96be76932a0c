/** docs/architecture.md has the import rules of `scripts/upkeep/checks/layout_rules.ts`, and it and CONTRIBUTING.md name files that exist. */
import { assert, assertEquals } from "@std/assert";
import { LEVELS, PROGRAMS } from "../../scripts/upkeep/checks/layout_rules.ts";
import { listFiles } from "../../scripts/upkeep/sources/source_files.ts";

const root = new URL("../../", import.meta.url);
const architecture = await Deno.readTextFile(new URL("docs/architecture.md", root));
const contributing = await Deno.readTextFile(new URL("CONTRIBUTING.md", root));

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

/** The rows of the table whose first head has this name. */
function rowsOf(head: string): string[][] {
  const table = RegExp(`^\\| ${head} +\\|.*?\\n\\n`, "ms").exec(architecture)?.[0] ?? "";
  return table.split("\n").slice(2, -2).map((row) => row.split("|").slice(1, -1));
}

Deno.test("docs/architecture.md has the levels of the import rules", () => {
  const levels = rowsOf("Folder").map(([folder = "", cell = ""]) => [namesIn(folder)[0], namesIn(cell)]);
  const rules = Object.entries(LEVELS).map(([folder, names]) => [folder, names.toReversed()]);
  assertEquals(Object.fromEntries(levels), Object.fromEntries(rules));
  const described = rowsOf("Level").map(([level = ""]) => namesIn(level)[0]);
  assertEquals(described, LEVELS["src/platform"]?.toReversed());
});

Deno.test("docs/architecture.md has the programs of the import rules and what each may import", () => {
  const rows = rowsOf("Program").map((
    [program = "", , cell = ""],
  ) => [namesIn(program)[0], namesIn(cell).sort()]);
  const rules = Object.entries(PROGRAMS).map(([program, targets]) => [program, targets.toSorted()]);
  assertEquals(Object.fromEntries(rows), Object.fromEntries(rules));
});

/** Files that recipes invent. */
const EXAMPLES = ["payments/cancel_payment.ts", "_store.ts"];

Deno.test("docs/architecture.md and CONTRIBUTING.md name files that exist", () => {
  const files = ["src", "scripts", "tests", "examples"].flatMap((folder) => listFiles(folder, [""]));
  const named = [...`${architecture}\n${contributing}`.matchAll(/`([\w./]+\.(?:tsx?|template))`/g)]
    .map(([, name = ""]) => name).filter((name) => !EXAMPLES.includes(name));
  assert(named.length > 60, `${named.length} names`);
  const missing = named.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)));
  assertEquals(missing, []);
});
