/** The client library as a package: ES modules with their type declarations, and `jose` as the only dependency. */
import { ROOT } from "../sources/source_files.ts";
import {
  type BuiltPackage,
  bundleTo,
  emptyFolder,
  pack,
  packageFolder,
  pinned,
  type Project,
  readProject,
} from "./package_files.ts";
import ts from "typescript";

/** Installed beside the package. */
const DEPENDENCIES = ["jose"];
/** Contained in the package, so that installing it adds nothing else. */
const CONTAINED = ["@xmldom/xmldom", "oauth4webapi", "zod"];
/** Contained, with its types. */
const TYPES = "oauth4webapi";
const SOURCE = "src/client";

/** Builds the package below `out`. @throws {Error} if a tool fails or a type must be inferred */
export async function buildClientPackage(out: string = `${ROOT}.data/packages`): Promise<BuiltPackage> {
  const project = await readProject();
  const folder = `${out}/client`;
  const dist = `${folder}/dist`;
  await emptyFolder(folder);
  await bundleTo(dist, Object.values(project.exports), DEPENDENCIES.map((name) => `--external=${name}`));
  await writeDeclarations(dist, project);
  await Deno.copyFile(`${ROOT}docs/client.md`, `${folder}/README.md`);
  return await pack(folder, manifestOf(project), CONTAINED.map((name) => pinned(project, name)));
}

function manifestOf(project: Project): { readonly name: string } & Record<string, unknown> {
  const { name, version, license, exports } = project;
  const built = (path: string, extension: string): string =>
    path.replace(SOURCE, "dist").replace(/\.ts$/, extension);
  const ends = Object.entries(exports).map(([entry, path]) => [
    entry,
    { types: built(path, ".d.ts"), default: built(path, ".js") },
  ]);
  return {
    name,
    version,
    description: "Client of the payment initiation platform for third-party providers and banks",
    license,
    type: "module",
    exports: Object.fromEntries(ends),
    types: built(exports["."] ?? "", ".d.ts"),
    files: ["dist", "THIRD_PARTY_LICENSES.md"],
    engines: { node: ">=20.18", bun: ">=1.2", deno: ">=2.5" },
    sideEffects: false,
    dependencies: Object.fromEntries(
      DEPENDENCIES.map((one) => [one, `^${pinned(project, one).split("@").at(-1)}`]),
    ),
    publishConfig: { access: "public", provenance: true },
  };
}

/**
 * The declarations of the library, by their path below the package's `dist`.
 * @throws {Error} if an exported type must be inferred, or comes from a library that the package does not have
 */
export function clientDeclarations({ exports }: Project): Promise<ReadonlyMap<string, string>> {
  return declarationsOf(ROOT + SOURCE, entriesOf(exports), [TYPES], DEPENDENCIES);
}

async function writeDeclarations(dist: string, project: Project): Promise<void> {
  for (const [path, text] of await clientDeclarations(project)) {
    await Deno.mkdir(`${dist}/${path}`.replace(/\/[^/]+$/, ""), { recursive: true });
    await Deno.writeTextFile(`${dist}/${path}`, text);
  }
  const types = `${await packageFolder(pinned(project, TYPES))}/build/index.d.ts`;
  await Deno.copyFile(types, `${dist}/${TYPES}.d.ts`);
  // An entry without its program would be found only by a user.
  for (const path of entriesOf(project.exports)) await Deno.stat(`${dist}/${path.replace(/\.ts$/, ".js")}`);
}

function entriesOf(exports: Project["exports"]): readonly string[] {
  return Object.values(exports).map((path) => path.replace(`./${SOURCE}/`, ""));
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  isolatedDeclarations: true, // what JSR asks for: the types are written, not inferred
  strict: true,
  exactOptionalPropertyTypes: true,
};

/**
 * Returns the text of each declaration file, by its path below `source`.
 *
 * @param source the folder of the package's sources
 * @param entries paths below it
 * @param contained libraries whose declarations the package contains
 * @param external libraries that the package depends on
 * @throws {Error} if a type must be inferred, or comes from a library that is neither
 */
export async function declarationsOf(
  source: string,
  entries: readonly string[],
  contained: readonly string[],
  external: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    const text = declarationOf(path, await Deno.readTextFile(`${source}/${path}`));
    const reach = (specifier: string): string => {
      if (specifier.startsWith(".")) {
        const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
        open.push(target);
        return specifier.replace(/\.ts$/, ".js");
      }
      if (contained.includes(specifier)) {
        return `${"../".repeat(path.split("/").length - 1) || "./"}${specifier}.js`;
      }
      if (external.includes(specifier)) return specifier;
      throw new Error(`The types of ${path} name ${specifier}, which the package does not have.`);
    };
    // Not in a comment, whose lines begin with an asterisk.
    found.set(
      path,
      text.replace(
        /^((?:import|export|\}).* from |import )"([^"]+)"/gm,
        (_, by, to) => `${by}"${reach(to)}"`,
      ),
    );
  }
  return new Map([...found].map(([path, text]) => [path.replace(/\.ts$/, ".d.ts"), text]));
}

function declarationOf(fileName: string, text: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(text, {
    compilerOptions: OPTIONS,
    fileName,
    reportDiagnostics: true,
  });
  const [first] = diagnostics;
  if (first === undefined) return outputText;
  throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(first.messageText, "\n")}`);
}
