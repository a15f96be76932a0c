/** docs/architecture.md has the import rules of `scripts/upkeep/checks/layout_rules.ts`, and it and CONTRIBUTING.md name files that exist. */
import { assert, assertEquals } from "@std/assert";
import { LEVELS } from "../../scripts/upkeep/checks/layout_rules.ts";
import { PROGRAMS } from "../../scripts/upkeep/checks/program_rules.ts";
import { listFiles } from "../../scripts/upkeep/sources/source_files.ts";

const root = new URL("../../", import.meta.url);
const architecture = await Deno.readTextFile(new URL("docs/architecture.md", root));
const contributing = await Deno.readTextFile(new URL("CONTRIBUTING.md", root));

/** The names in a cell; one without a folder is in the folder of the first. */
function namesIn(cell: string): string[] {
  const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const folder = names[0]?.replace(/[^/]*$/, "") ?? "";
  return names.map((name) => name.includes("/") ? name : folder + name);
}

Deno.test("docs/architecture.md has the levels of the import rules", () => {
  const rows = [...architecture.matchAll(/^\| (\d+) +\| (.+?) +\|$/gm)];
  const levels = rows.toSorted((a, b) => Number(a[1]) - Number(b[1])).map(([, , cell = ""]) =>
    namesIn(cell).sort()
  );
  assertEquals(levels, LEVELS.map((level) => level.toSorted()));
});

Deno.test("docs/architecture.md has the programs of the import rules and what each may import", () => {
  const table = /^\| Program +\|.*?\n\n/ms.exec(architecture)?.[0] ?? "";
  const rows = [...table.matchAll(/^\| `(\w+)` +\| (.+?) +\|$/gm)]
    .map(([, program = "", cell = ""]) => [program, namesIn(cell).sort()]);
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
