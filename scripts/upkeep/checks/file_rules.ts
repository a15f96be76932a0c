/** The lint rules about a file as a whole: its name, its length, its opening comment, and the length of functions. */
import { IN_SRC, PROGRAM_FILES, ruleFor, textRule } from "./linted_file.ts";
import { splitLines } from "../sources/source_files.ts";

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 40;
const MAX_HEADER_LINES = 5;
const NAME = /^[a-z0-9]+(_[a-z0-9]+)*(\.(?:test|d))?\.(js|tsx?)$/;
const FOLDER = /^[a-z0-9]+(_[a-z0-9]+)*$/;
const VAGUE = /(^|\/)(utils?|helpers?|common|services?|types|misc|shared)(\/|\.tsx?$)/;
const HEADER = /^(?:\/\/ deno-lint-ignore-file[^\n]*\n)*\/\*\*([\s\S]*?)\*\//;

export const fileName: Deno.lint.Rule = textRule(PROGRAM_FILES, ({ path, report }) => {
  const parts = path.split("/");
  if (!NAME.test(parts.at(-1) ?? "") || !parts.slice(0, -1).every((part) => FOLDER.test(part))) {
    report([0, 1], `${path} must have a snake_case name, and so must its folders.`);
  }
  if (VAGUE.test(path)) report([0, 1], `${path} has a vague name. Name it by what it is for.`);
});

export const fileLength: Deno.lint.Rule = textRule(PROGRAM_FILES, ({ text, report }) => {
  const { length } = splitLines(text);
  if (length <= MAX_FILE_LINES) return;
  const end = splitLines(text).slice(0, MAX_FILE_LINES).join("\n").length;
  report([end - 1, end], `This file has ${length} lines. Split it by topic, below ${MAX_FILE_LINES}.`);
});

export const fileHeader: Deno.lint.Rule = textRule(IN_SRC, ({ text, report }) => {
  const header = HEADER.exec(text)?.[1];
  const lines = header?.split("\n").filter((line) => /\w/.test(line)).length ?? 0;
  if (header === undefined) {
    report([0, 1], "This file opens without a comment. State what it decides and what it never does.");
  } else if (lines > MAX_HEADER_LINES) {
    report([0, 1], `This file opens with ${lines} lines of comment. ${MAX_HEADER_LINES} are enough.`);
  }
});

/** Functions inside functions count with the outer one. */
export const functionLength: Deno.lint.Rule = ruleFor(IN_SRC, ({ text, report }) => ({
  FunctionDeclaration(node): void {
    if (node.parent.type === "BlockStatement") return;
    const { length } = text.slice(...node.range).split("\n");
    if (length <= MAX_FUNCTION_LINES) return;
    report(node.id ?? node, `This function has ${length} lines. Name its steps as functions.`);
  },
}));
