/** A file with a planted violation, as the lint plugin sees it. */
import plugin from "../../../../scripts/upkeep/checks/lint_plugin.ts";

/** The lines of the file that break this rule. */
export function brokenLines(rule: string, path: string, ...lines: readonly string[]): number[] {
  const text = lines.join("\n");
  return Deno.lint.runPlugin(plugin, path, text)
    .filter(({ id }) => id === `house/${rule}`)
    .map(({ range: [start] }) => text.slice(0, start).split("\n").length);
}
