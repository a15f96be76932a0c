/** What the packages for npm have in common: their project, their tools, and how they are packed. */
import { ROOT } from "../sources/source_files.ts";

/** What the packages take from `deno.json`. */
export interface Project {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly tasks: Readonly<
    Record<string, string | { readonly description?: string; readonly command?: string }>
  >;
}

/** A package that is ready to be published. */
export interface BuiltPackage {
  readonly name: string;
  readonly tarball: string;
  readonly sha256: string;
}

/** Reads `deno.json`. */
export async function readProject(): Promise<Project> {
  return JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)) as Project;
}

/** Makes the folder anew. */
export async function emptyFolder(folder: string): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {}); // an earlier build's
  await Deno.mkdir(folder, { recursive: true });
}

/** Bundles entries into ES modules below `dist`. `flags` are those of `deno bundle`. @throws {Error} without a file for each */
export async function bundleTo(
  dist: string,
  entries: readonly string[],
  flags: readonly string[],
): Promise<void> {
  const always = ["--quiet", "--platform=deno", "--code-splitting", "--outdir", dist];
  await run(Deno.execPath(), ["bundle", ...always, ...flags, ...entries]);
  for await (const { name, isFile } of Deno.readDir(dist)) {
    if (!isFile) continue;
    const text = await Deno.readTextFile(`${dist}/${name}`);
    // Where this machine keeps its packages must not show in the bundle.
    await Deno.writeTextFile(
      `${dist}/${name}`,
      text.replaceAll(/^\/\/ \S*\/registry\.npmjs\.org\//gm, "// npm:"),
    );
  }
}

/** Writes the manifest and the licences, and makes the tarball beside the folder. */
export async function pack(
  folder: string,
  manifest: { readonly name: string } & Readonly<Record<string, unknown>>,
  contained: readonly string[],
): Promise<BuiltPackage> {
  await Deno.writeTextFile(`${folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  await Deno.copyFile(`${ROOT}LICENSE`, `${folder}/LICENSE`);
  await Deno.writeTextFile(`${folder}/THIRD_PARTY_LICENSES.md`, await licensesOf(contained));
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", ".."], folder);
  const tarball = `${folder.replace(/\/[^/]+$/, "")}/${packed.trim()}`;
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(tarball));
  return { name: manifest.name, tarball, sha256: new Uint8Array(digest).toHex() };
}

/** The folder of a library in Deno's cache. @param library its name and version: `jose@6.2.17` */
export async function packageFolder(library: string): Promise<string> {
  const { npmCache } = JSON.parse(await run(Deno.execPath(), ["info", "--json"])) as { npmCache: string };
  return `${npmCache}/registry.npmjs.org/${library.replace(/@([^@]+)$/, "/$1")}`;
}

/** `name@version` of a library that `deno.json` pins. @throws {Error} if it does not */
export function pinned({ imports }: Pick<Project, "imports">, name: string): string {
  const specifier = /^npm:(.+@[\d.]+)$/.exec(imports[name] ?? "")?.[1];
  if (specifier === undefined) throw new Error(`deno.json does not pin a version of ${name}.`);
  return specifier;
}

/** Runs a tool and returns what it prints. @throws {Error} with its words if it fails */
export async function run(program: string, args: readonly string[], cwd: string = ROOT): Promise<string> {
  const command = new Deno.Command(program, { args: [...args], cwd, env: { NO_COLOR: "1" } });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${program} ${args[0]}: ${decoder.decode(stderr)}${decoder.decode(stdout)}`);
  return decoder.decode(stdout);
}

async function licensesOf(libraries: readonly string[]): Promise<string> {
  const texts = libraries.map(async (library) => {
    const folder = await packageFolder(library);
    const files = [...Deno.readDirSync(folder)].map(({ name }) => name);
    const file = files.find((name) => /^licen[cs]e/i.test(name));
    const words = file === undefined
      ? `${(JSON.parse(await Deno.readTextFile(`${folder}/package.json`)) as { license?: string }).license}`
      : await Deno.readTextFile(`${folder}/${file}`);
    return `## ${library}\n\n${words.trim()}\n`;
  });
  return ["This package contains parts of these libraries.\n", ...await Promise.all(texts)].join("\n");
}

/** Every file below a folder. */
export async function* filesIn(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesIn(`${folder}/${name}`);
    else yield `${folder}/${name}`;
  }
}
