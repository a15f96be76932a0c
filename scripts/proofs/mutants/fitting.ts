/**
 * Which changes fit the types. One run of the type checker looks at all of them: each changed program is written beside
 * its file under a name of its own, with copies of some programs that import it.
 */
import { basename, dirname, relative } from "node:path/posix";
import type { Mutation } from "./mutations.ts";
import type { Tree } from "./tree.ts";

/** Programs whose types are checked besides that of a change. */
const MAX_IMPORTERS = 8;
/** Where the type checker found an error in a copy. */
const FAULTY = /^ +at file:\S*\.change(\d+)\.tsx?:/gm;

/** The changes that fit. The tree is afterwards as it was. */
export async function findFitting(mutations: readonly Mutation[], tree: Tree): Promise<readonly Mutation[]> {
  const byFile = [...Map.groupBy(mutations, ({ file }) => file)];
  const copies = byFile.flatMap(([file, changes]) => [{ file, plant: unchanged }, ...changes]);
  const written = (await Promise.all(copies.map((copy, number) => writeCopies(copy, number, tree)))).flat();
  const { output } = await tree.run(Deno.execPath(), ["check", "-q", ...written]);
  await Promise.all(written.map((path) => Deno.remove(`${tree.folder}/${path}`)));
  const errors = Map.groupBy(output.matchAll(FAULTY), ([, number]) => number);
  const countErrors = (number: number): number => errors.get(String(number))?.length ?? 0;
  let number = 0;
  return byFile.flatMap(([, changes]) => {
    const before = countErrors(number++); // a copy of a nominal type is another type
    return changes.filter(() => countErrors(number++) <= before);
  });
}

function unchanged(source: string): string {
  return source;
}

/** Writes a changed program and its importers. @returns the paths of the copies */
async function writeCopies(
  { file, plant }: Pick<Mutation, "file" | "plant">,
  number: number,
  tree: Tree,
): Promise<readonly string[]> {
  const write = async (path: string, change: (text: string) => string): Promise<string> => {
    const copy = nameCopy(path, number);
    await Deno.writeTextFile(
      `${tree.folder}/${copy}`,
      change(await Deno.readTextFile(`${tree.folder}/${path}`)),
    );
    return copy;
  };
  const importers = await findImporters(file, tree);
  const redirected = importers.map((path) =>
    write(path, (text) => {
      const imported = writeImport(file, path);
      return text.replaceAll(imported, () => nameCopy(imported, number));
    })
  );
  return await Promise.all([write(file, plant), ...redirected]);
}

function nameCopy(path: string, number: number): string {
  return path.replace(/\.tsx?("?)$/, (ending) => `.change${number}${ending}`);
}

/** Some programs near a file that import it: one that another completes with `satisfies` has no types of its own. */
async function findImporters(file: string, tree: Tree): Promise<readonly string[]> {
  const folder = dirname(dirname(file));
  const { output } = await tree.run("grep", [
    "-rF",
    "--include=*.ts",
    "--include=*.tsx",
    `/${basename(file)}"`,
    folder,
  ]);
  const found = output.split("\n").flatMap((line) => {
    const [path = ""] = line.split(":", 1);
    return line.includes(writeImport(file, path)) && !path.includes(".change") ? [path] : [];
  });
  return [...new Set(found)].sort().slice(0, MAX_IMPORTERS);
}

/** How a program names a file that it imports. */
function writeImport(file: string, from: string): string {
  const path = relative(dirname(from), file);
  return `"${path.startsWith(".") ? path : `./${path}`}"`;
}
