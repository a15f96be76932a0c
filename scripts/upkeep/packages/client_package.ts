/** The client library as a package: ES modules with types, and `jose` as the only dependency. */
import { ROOT } from "../sources/source_files.ts";
import { declarationsOf } from "./declarations.ts";
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
