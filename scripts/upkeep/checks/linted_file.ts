/** The input of every rule of the lint plugin: the file's path in the project, and the files that a rule looks at. */
import { ROOT } from "../sources/source_files.ts";

/** The file that a rule looks at. */
export interface LintedFile {
  /** From the project's root, with `/`. */
  readonly path: string;
  readonly text: string;
  /** Reports a violation at a node, or at the given positions of the text. */
  report(place: Deno.lint.Node | Deno.lint.Range, message: string): void;
}

/** A rule for the files whose path matches. */
export function ruleFor(files: RegExp, visit: (file: LintedFile) => Deno.lint.LintVisitor): Deno.lint.Rule {
  return {
    create(context): Deno.lint.LintVisitor {
      const path = pathInProject(context.filename);
      if (!files.test(path)) return {};
      return visit({
        path,
        text: context.sourceCode.text,
        report(place, message): void {
          context.report("type" in place ? { node: place, message } : { range: place, message });
        },
      });
    },
  };
}

/** A rule about the text or the path of a file. */
export function textRule(files: RegExp, judge: (file: LintedFile) => void): Deno.lint.Rule {
  return ruleFor(files, (file) => ({ Program: () => judge(file) }));
}

/** Programs of the project, without files that a tool has made. */
export const PROGRAM_FILES = /^(src|scripts|tests|examples)\//;
export const IN_SRC = /^src\//;

/** A path below `src/`. */
export function belowSrc(path: string): string {
  return path.replace(IN_SRC, "");
}

function pathInProject(filename: string): string {
  const path = filename.replace(/^file:\/\//, "");
  return path.startsWith(ROOT) ? path.slice(ROOT.length) : path;
}
