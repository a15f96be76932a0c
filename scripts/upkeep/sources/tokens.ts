/** The comments and the strings of a program, for checks that look at one of them alone. */
import jsTokens from "js-tokens";

/** A string, or a piece of a template between its expressions. */
export interface StringPiece {
  /** Without quotes. */
  readonly text: string;
  /** The position in the program. */
  readonly at: number;
}

const STRINGS: ReadonlySet<string> = new Set([
  "StringLiteral",
  "JSXString",
  "JSXText",
  "NoSubstitutionTemplate",
  "TemplateHead",
  "TemplateMiddle",
  "TemplateTail",
]);

/** The program with everything blank but its comments, at the same positions, and its strings. */
export function readTokens(
  path: string,
  text: string,
): { readonly comments: string; readonly strings: readonly StringPiece[] } {
  const comments: string[] = [];
  const strings: StringPiece[] = [];
  let at = 0;
  for (const { type, value } of jsTokens(text, { jsx: path.endsWith(".tsx") })) {
    comments.push(type.endsWith("Comment") ? value : value.replaceAll(/[^\n]/g, " "));
    if (STRINGS.has(type)) strings.push({ text: value.replace(/^["'`}]|["'`]$|\$\{$/g, ""), at });
    at += value.length;
  }
  return { comments: comments.join(""), strings };
}
