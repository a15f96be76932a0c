/** Finds circles of imports between files and between folders, in the module graph that `deno info` prints. */
import { listFiles, ROOT } from "../sources/source_files.ts";
import type { Violation } from "./violation.ts";

/** The imports of each file, both named from the project's root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier?: string };
    readonly type?: { readonly specifier?: string };
  }[];
}

const FOLDERS = ["src", "scripts"];

/**
 * The graph of folders. A folder stands for what is inside it, down to the third level, in `src/platform` the fourth:
 * a slice, such as `src/platform/core/payments`.
 */
export function folderGraph(graph: ImportGraph): ImportGraph {
  const folders = new Map<string, string[]>();
  for (const [file, targets] of graph) {
    const folder = sliceOf(file);
    const others = targets.map(sliceOf).filter((target) => target !== folder);
    folders.set(folder, [...new Set([...folders.get(folder) ?? [], ...others])]);
  }
  return folders;
}

function sliceOf(file: string): string {
  const depth = file.startsWith("src/platform/") ? 4 : 3;
  return file.split("/").slice(0, -1).slice(0, depth).join("/");
}

/** Each circle once, at the file or folder whose import closes it. */
export function importCircles(graph: ImportGraph): Violation[] {
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    for (const target of graph.get(file) ?? []) {
      const start = path.indexOf(target);
      if (start !== -1) {
        const circle = [...path.slice(start), target].join(" -> ");
        found.push({
          where: `${file}:1`,
          sentence: `This closes a circle of imports, ${circle}. Move what both need into a third place.`,
        });
      } else if (!done.has(target)) visit(target, [...path, target]);
    }
    done.add(file);
  };
  for (const file of graph.keys()) if (!done.has(file)) visit(file, [file]);
  return found;
}

/** The imports of every program file, types included. `deno info` follows one file, so it runs until it has met all. */
export async function importGraph(): Promise<ImportGraph> {
  const graph = new Map<string, readonly string[]>();
  const files = (endings: readonly string[]): string[] =>
    FOLDERS.flatMap((folder) => listFiles(folder, endings));
  for (const file of [...files(["main.ts"]), ...files([".ts", ".tsx"])]) {
    if (graph.has(file)) continue;
    for (const [path, imports] of await graphOf(file)) graph.set(path, imports);
  }
  return graph;
}

async function graphOf(file: string): Promise<ImportGraph> {
  const command = new Deno.Command("deno", { args: ["info", "--json", file], cwd: ROOT });
  const { success, stdout, stderr } = await command.output();
  if (!success) throw new Error(`deno info ${file} failed: ${new TextDecoder().decode(stderr)}`);
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { readonly modules: readonly Module[] };
  return new Map(
    modules.flatMap(({ specifier, dependencies = [] }) => {
      const path = pathOf(specifier);
      const targets = dependencies.flatMap(({ code, type }) =>
        [code?.specifier, type?.specifier].map(pathOf)
      );
      return path === undefined
        ? []
        : [[path, [...new Set(targets.filter((target) => target !== undefined))]]];
    }),
  );
}

/** Of a program file: JSON and style sheets have no imports. */
function pathOf(specifier: string | undefined): string | undefined {
  const path = specifier?.startsWith(`file://${ROOT}`) === true
    ? specifier.slice(`file://${ROOT}`.length)
    : "";
  return /\.tsx?$/.test(path) && FOLDERS.some((folder) => path.startsWith(`${folder}/`)) ? path : undefined;
}
