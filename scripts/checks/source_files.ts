/**
 * Source files as the house rules look at them: their text with comments, and with strings, blanked out at the same
 * positions, and what they import. Parses no further than that needs.
 */

/** A file below the project's root. */
export interface SourceFile {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text with comments blanked. */
  readonly code: string;
  /** The text with comments, strings, templates and regular expressions blanked. */
  readonly bare: string;
}

/** One import or re-export. */
export interface Import {
  readonly line: number;
  readonly specifier: string;
  /** The import is erased at compile time. */
  readonly typeOnly: boolean;
  readonly reExport: boolean;
}

/** The project's root folder, with a slash at its end. */
export const ROOT: string = new URL("../../", import.meta.url).pathname;

const STATIC = /^[ \t]*(import|export)\s+(type\s+)?(?:([\w$*\s{},]+?)\s+from\s*)?["']([^"'\n]+)["']/gm;
const DYNAMIC = /\bimport\s*\(\s*(?:["']([^"'\n]+)["'])?/g;
const CODE = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^"'`{}/]+|[\s\S]/y;
const TEMPLATE = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/y;
const REGULAR_EXPRESSION = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const BEFORE_EXPRESSION = /(?:[(,=:[!&|?{;+*%~^>]|\breturn|\btypeof)\s*$/;

/** Every file below a folder whose name ends so, in order. A folder that is not there has none. */
export function listFiles(folder: string, endings: readonly string[]): string[] {
  const found: string[] = [];
  for (const entry of entriesOf(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) found.push(...listFiles(path, endings));
    else if (endings.some((ending) => entry.name.endsWith(ending))) found.push(path);
  }
  return found.sort();
}

/** Reads a file of the project. */
export function readSource(path: string): SourceFile {
  return sourceFile(path, Deno.readTextFileSync(ROOT + path));
}

/** A file of this text. */
export function sourceFile(path: string, text: string): SourceFile {
  return { path, text, ...blanked(text) };
}

/** Where a position of a text is, counted from 1. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

/** The imports and re-exports of a file, in order. A dynamic import without a literal has specifier "". */
export function importsOf({ code, bare }: SourceFile): Import[] {
  const statics = [...code.matchAll(STATIC)].filter((match) => isCode(bare, match)).map((match) => {
    const [, keyword, type, names, specifier = ""] = match;
    const start = match.index + match[0].search(/\S/);
    const typeOnly = type !== undefined || /^\{(\s*type\s[^,]*,?)+\}$/.test(names ?? "");
    return { line: lineAt(code, start), specifier, typeOnly, reExport: keyword === "export" };
  });
  const dynamics = [...code.matchAll(DYNAMIC)].filter((match) => isCode(bare, match)).map((match) => ({
    line: lineAt(code, match.index),
    specifier: match[1] ?? "",
    typeOnly: /\btypeof\s*$/.test(code.slice(0, match.index)),
    reExport: false,
  }));
  return [...statics, ...dynamics];
}

/** The path that a relative specifier means, seen from a file of the project. */
export function resolve(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(ROOT + folder)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function isCode(bare: string, match: RegExpMatchArray): boolean {
  const start = (match.index ?? 0) + match[0].search(/\S/);
  return bare.startsWith(match[0].trimStart().slice(0, 6), start);
}

/** One pass over the text; `open` holds the templates and the braces that the position is in. */
function blanked(text: string): { code: string; bare: string } {
  const open: ("template" | "brace")[] = [];
  let code = "";
  let bare = "";
  while (code.length < text.length) {
    const inTemplate = open.at(-1) === "template";
    const piece = nextPiece(text, code.length, inTemplate, bare);
    const comment = !inTemplate && /^\/[/*]/.test(piece);
    const quoted = inTemplate || /^["'`]/.test(piece) || (piece.startsWith("/") && piece.length > 1);
    code += comment ? spaces(piece) : piece;
    bare += quoted ? spaces(piece) : piece;
    if (inTemplate && !piece.endsWith("${")) open.pop();
    else if (inTemplate || piece === "{") open.push("brace");
    else if (piece === "`") open.push("template");
    else if (piece === "}") open.pop();
  }
  return { code, bare };
}

function nextPiece(text: string, at: number, inTemplate: boolean, before: string): string {
  if (inTemplate) return take(TEMPLATE, text, at) ?? text.slice(at);
  const piece = take(CODE, text, at) ?? text.slice(at);
  if (piece !== "/" || !BEFORE_EXPRESSION.test(before.slice(-40))) return piece;
  return take(REGULAR_EXPRESSION, text, at) ?? piece;
}

function take(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function spaces(piece: string): string {
  return piece.replaceAll(/[^\n]/g, " ");
}
