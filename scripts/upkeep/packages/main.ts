/**
 * Builds the packages for npm in `.data/packages`: the client library as ES modules with types. Two builds of the same
 * sources are equal byte for byte.
 */
import { runProgram } from "../../command_line/run.ts";
import { ROOT } from "../sources/source_files.ts";
import { declarationsOf } from "./declarations.ts";

/** What the packages take from `deno.json`. */
export interface Project {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
}

/** Installed beside the package. */
const DEPENDENCIES = ["jose"];
/** Contained in the package, so that installing it adds nothing else. */
const CONTAINED = ["oauth4webapi", "zod"];
const SOURCE = "src/client";

/** A package that is ready to be published. */
export interface BuiltPackage {
  readonly name: string;
  readonly tarball: string;
  readonly sha256: string;
}

/** Builds the client library's package below `out`. @throws {Error} if a tool fails or a type must be inferred */
export async function buildClientPackage(out: string = `${ROOT}.data/packages`): Promise<BuiltPackage> {
  const project = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)) as Project;
  const folder = `${out}/client`;
  await Deno.remove(folder, { recursive: true }).catch(() => {}); // an earlier build's
  await Deno.mkdir(`${folder}/dist`, { recursive: true });
  const entries = Object.values(project.exports).map((path) => path.replace(`./${SOURCE}/`, ""));
  await bundleTo(`${folder}/dist`, entries);
  await writeDeclarations(`${folder}/dist`, entries, project);
  const manifest = JSON.stringify(manifestOf(project), null, 2);
  await Deno.writeTextFile(`${folder}/package.json`, `${manifest}\n`);
  await Deno.copyFile(`${ROOT}LICENSE`, `${folder}/LICENSE`);
  await Deno.copyFile(`${ROOT}${SOURCE}/README.md`, `${folder}/README.md`);
  await Deno.writeTextFile(`${folder}/THIRD_PARTY_LICENSES.md`, await licensesOf(project));
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", out], folder);
  const tarball = `${out}/${packed.trim()}`;
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(tarball));
  return { name: project.name, tarball, sha256: new Uint8Array(digest).toHex() };
}

function manifestOf({ name, version, license, exports, imports }: Project): Record<string, unknown> {
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
    dependencies: Object.fromEntries(DEPENDENCIES.map((one) => [one, `^${versionOf(imports, one)}`])),
    publishConfig: { access: "public", provenance: true },
  };
}

async function bundleTo(dist: string, entries: readonly string[]): Promise<void> {
  const external = DEPENDENCIES.map((name) => `--external=${name}`);
  const flags = ["--quiet", "--platform=deno", "--code-splitting", "--outdir", dist];
  await run(Deno.execPath(), [
    "bundle",
    ...flags,
    ...external,
    ...entries.map((path) => `${SOURCE}/${path}`),
  ]);
  for (const path of entries) await Deno.stat(`${dist}/${path.replace(/\.ts$/, ".js")}`);
  for await (const { name } of Deno.readDir(dist)) {
    const text = await Deno.readTextFile(`${dist}/${name}`);
    // Where this machine keeps its packages must not show in the bundle.
    await Deno.writeTextFile(
      `${dist}/${name}`,
      text.replaceAll(/^\/\/ \S*\/registry\.npmjs\.org\//gm, "// npm:"),
    );
  }
}

async function writeDeclarations(dist: string, entries: readonly string[], project: Project): Promise<void> {
  const contained = { oauth4webapi: `${await packageFolder(project, "oauth4webapi")}/build/index.d.ts` };
  const files = await declarationsOf(ROOT + SOURCE, entries, contained, DEPENDENCIES);
  for (const [path, text] of files) {
    await Deno.mkdir(`${dist}/${path}`.replace(/\/[^/]+$/, ""), { recursive: true });
    await Deno.writeTextFile(`${dist}/${path}`, text);
  }
}

async function licensesOf(project: Project): Promise<string> {
  const texts = CONTAINED.map(async (name) => {
    const folder = await packageFolder(project, name);
    const text = await Deno.readTextFile(`${folder}/LICENSE`)
      .catch(() => Deno.readTextFile(`${folder}/LICENSE.md`));
    return `## ${name} ${versionOf(project.imports, name)}\n\n${text.trim()}\n`;
  });
  return ["This package contains parts of these libraries.\n", ...await Promise.all(texts)].join("\n");
}

/** The folder of a library in Deno's cache. */
export async function packageFolder({ imports }: Pick<Project, "imports">, name: string): Promise<string> {
  const { npmCache } = JSON.parse(await run(Deno.execPath(), ["info", "--json"])) as { npmCache: string };
  return `${npmCache}/registry.npmjs.org/${name}/${versionOf(imports, name)}`;
}

function versionOf(imports: Project["imports"], name: string): string {
  const version = /@([\d.]+)$/.exec(imports[name] ?? "")?.[1];
  if (version === undefined) throw new Error(`deno.json does not pin a version of ${name}.`);
  return version;
}

async function run(program: string, args: readonly string[], cwd: string = ROOT): Promise<string> {
  const command = new Deno.Command(program, { args: [...args], cwd, env: { NO_COLOR: "1" } });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${program} ${args[0]}: ${decoder.decode(stderr)}${decoder.decode(stdout)}`);
  return decoder.decode(stdout);
}

if (import.meta.main) {
  await runProgram(async (print) => {
    const { tarball, sha256 } = await buildClientPackage();
    print(`${sha256}  ${tarball.replace(ROOT, "")}`);
  });
}
