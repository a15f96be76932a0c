/** Every rule about imports names files that exist: each alternative of its expressions matches one. */
import { assert, assertEquals } from "@std/assert";
import { MAY_CALL_STORE, OPENINGS } from "../../../../scripts/upkeep/checks/layout_rules.ts";
import {
  RESTRICTED_FILES,
  RESTRICTED_PACKAGES,
} from "../../../../scripts/upkeep/checks/restriction_rules.ts";
import { listFiles } from "../../../../scripts/upkeep/sources/source_files.ts";

const files = listFiles("src", [".ts", ".tsx", ".css"]).map((path) => path.slice("src/".length));

/** The parts of an expression at `|` outside of its groups. */
function branches(source: string): readonly string[] {
  let depth = 0;
  const found = [""];
  for (const sign of source.match(/\\.|./gs) ?? []) {
    if (sign === "(") depth += 1;
    if (sign === ")") depth -= 1;
    if (sign === "|" && depth === 0) found.push("");
    else found.push(`${found.pop() ?? ""}${sign}`);
  }
  return found;
}

/** The index behind the group that opens at `start`. */
function endOfGroup(source: string, start: number): number {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === "(") depth += 1;
    else if (source[at] === ")" && --depth === 0) return at + 1;
  }
  throw new Error(`${source} has an open group`);
}

/** An expression without alternatives for each choice. Optional groups and lookaheads stay as they are. */
function choices(source: string): readonly string[] {
  const [first = "", ...others] = branches(source);
  if (others.length > 0) return [first, ...others].flatMap(choices);
  for (const { index: start } of source.matchAll(/(?<!\\)\((?!\?[!=])/g)) {
    const end = endOfGroup(source, start);
    if (/^[?*]/.test(source.slice(end))) continue;
    const inner = source.slice(start + 1, end - 1).replace(/^\?:/, "");
    const all = branches(inner);
    if (all.length === 1) continue;
    return all.flatMap((one) => choices(`${source.slice(0, start)}(?:${one})${source.slice(end)}`));
  }
  return [source];
}

function withoutFile(expressions: readonly RegExp[]): readonly string[] {
  return expressions.flatMap(({ source }) => choices(source))
    .filter((choice) => choice !== "^(?!)" && !files.some((file) => RegExp(choice).test(file)));
}

Deno.test("each alternative of a rule about imports names a file that exists", () => {
  const expressions = [
    ...MAY_CALL_STORE.map((rule) => rule.files),
    ...OPENINGS.flatMap(({ from, to }) => [from, to]),
    ...RESTRICTED_FILES.flatMap(({ target, mayImport }) => [target, mayImport]),
    ...RESTRICTED_PACKAGES.map(({ mayImport }) => mayImport),
  ];
  const all = expressions.flatMap(({ source }) => choices(source));
  assert(all.length > 60, `${all.length} alternatives`);
  assertEquals(withoutFile(expressions), []);
});

Deno.test("an alternative without a file is found wherever it is in the expression", () => {
  assertEquals(withoutFile([/^platform\/config\/(config|config_values)\.ts$/]), [
    "^platform\\/config\\/(?:config_values)\\.ts$",
  ]);
  assertEquals(withoutFile([/^(base\/store\/|platform\/(config\/config\.ts|gone\/))/]), [
    "^(?:platform\\/(?:gone\\/))",
  ]);
  assertEquals(withoutFile([/_store\.ts$|^base\/kernel\/no_such\.ts$/]), ["^base\\/kernel\\/no_such\\.ts$"]);
});
