/** A folder in which the client library's package is installed as npm does it, and the programs that use it there. */
import ts from "typescript";
import { type BuiltPackage, packageFolder, type Project } from "../../scripts/upkeep/packages/main.ts";

const root = new URL("../../", import.meta.url).pathname;

/** What a program of a user sees of Node if it has no `@types/node`. */
const NODE_TYPES = `
declare module "node:fs/promises" { export function readFile(path: string, encoding: "utf8"): Promise<string>; }
declare module "node:http" {
  interface Incoming extends AsyncIterable<Uint8Array> {
    readonly method?: string;
    readonly url?: string;
    readonly headers: Record<string, string | string[] | undefined>;
  }
  interface Outgoing {
    writeHead(status: number, headers: Record<string, string>): void;
    end(body: Uint8Array): void;
    destroy(): void;
  }
  export function createServer(listener: (incoming: Incoming, outgoing: Outgoing) => void): {
    listen(port: number, host: string, listening: () => void): void;
  };
}
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

/** The programs in the package's README: a TPP's and a bank's. */
export async function readmePrograms(): Promise<readonly [tpp: string, bank: string]> {
  const readme = await Deno.readTextFile(`${root}src/client/README.md`);
  const [tpp = "", bank = ""] = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);
  return [tpp, bank];
}

async function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npm", { args: [...args], cwd }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`npm ${args[0]}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
