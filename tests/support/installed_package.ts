/** A folder in which the client library's package is installed as npm does it, and the programs that use it there. */
import ts from "typescript";
import { type BuiltPackage, packageFolder, type Project } from "../../scripts/upkeep/packages/main.ts";

const root = new URL("../../", import.meta.url).pathname;

/** What a program of a user sees of Node if it has no `@types/node`. */
const NODE_TYPES = `
declare module "node:fs/promises" { export function readFile(path: string, encoding: "utf8"): Promise<string>; }
declare module "node:process" {
  export const argv: string[];
  export const env: Record<string, string | undefined>;
  export const stdout: { write(text: string): void };
  const process: { argv: string[]; exitCode: number };
  export default process;
}
declare const process: { readonly argv: string[] };
`;

/** Installs the tarball in an empty folder, with its dependency from Deno's cache: no network is needed. */
export async function installPackage(folder: string, { tarball }: BuiltPackage): Promise<void> {
  const project = JSON.parse(await Deno.readTextFile(`${root}deno.json`)) as Project;
  const jose = await npm(folder, "pack", "--silent", await packageFolder(project, "jose"));
  await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true, "type": "module" }');
  await npm(folder, "install", "--offline", "--no-audit", "--no-fund", `./${jose.trim()}`, tarball);
}

/** Type-checks programs in the folder with TypeScript 5, and writes their JavaScript. Returns what is wrong with them. */
export async function compile(folder: string, files: readonly string[]): Promise<readonly string[]> {
  await Deno.writeTextFile(`${folder}/node.d.ts`, NODE_TYPES);
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    types: [],
  };
  const program = ts.createProgram([...files, "node.d.ts"].map((file) => `${folder}/${file}`), options);
  program.emit();
  return ts.getPreEmitDiagnostics(program).map(({ file: at, messageText }) =>
    `${at?.fileName.replace(folder, "") ?? ""}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`
  );
}

/** The first block of JavaScript of the package's README. */
export async function readmeProgram(): Promise<string> {
  const readme = await Deno.readTextFile(`${root}src/client/README.md`);
  return /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
}

async function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npm", { args: [...args], cwd }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`npm ${args[0]}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
