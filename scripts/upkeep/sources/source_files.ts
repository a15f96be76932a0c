/** The project's files as the checks read them. */

/** A file below the project's root. */
export interface SourceFile {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** The project's root folder, with a slash at its end. */
export const ROOT: string = new URL("../../../", import.meta.url).pathname;

/** Every file below a folder whose name ends so, in order. A folder that does not exist has none. */
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
  return { path, text: Deno.readTextFileSync(ROOT + path) };
}

/** The lines of a text. A line break at its end begins no further line. */
export function splitLines(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}

/** The line of a position, counted from 1. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(ROOT + folder)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
