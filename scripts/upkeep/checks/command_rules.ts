/** The rules about text that no linter sees: commands with every permission, and comments that switch the linter off. */
import { lineAt } from "../sources/source_files.ts";
import type { Violation } from "./violation.ts";

/** Rules of the linter that a comment with a reason may switch off, and where. */
const IGNORABLE: Readonly<Record<string, RegExp>> = {
  "require-await": /^/,
  "no-explicit-any": /^(?!src\/)/,
  "explicit-module-boundary-types": /^src\/platform\/process\/shared_parts\.ts$/,
};
const IGNORE = /\/\/\s*deno-lint-ignore(?:-file)?\b([^\n]*)/g;

/** Commands that give Deno every permission (Decision F7), in a text of any kind. */
export function permissionViolations(path: string, text: string): Violation[] {
  const everything = RegExp(`\\bdeno\\b[^\\n|;&]*?\\s-[a-zA-Z]*${"A"}[a-zA-Z]*\\b|--allow-${"all"}\\b`, "g");
  return [...text.matchAll(everything)].map((match) => ({
    where: `${path}:${lineAt(text, match.index)}`,
    sentence: "This command gives Deno every permission. Name the ones that are needed.",
  }));
}

/** Comments that switch off a rule of the linter that holds without exception, or that give no reason. */
export function ignoreViolations(path: string, text: string): Violation[] {
  return [...text.matchAll(IGNORE)].flatMap(({ 1: rest = "", index }) => {
    const [rules = "", reason = ""] = rest.split(" -- ");
    const names = rules.trim().split(/[\s,]+/);
    if (/\w/.test(reason) && names.every((name) => IGNORABLE[name]?.test(path) === true)) return [];
    const sentence = `This comment may switch off only ${
      Object.keys(IGNORABLE).filter((name) => IGNORABLE[name]?.test(path)).join(" or ")
    }, followed by " -- " and a reason.`;
    return [{ where: `${path}:${lineAt(text, index)}`, sentence }];
  });
}
