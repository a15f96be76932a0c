/** A folder in which the client library's package is installed as npm does it, and the programs that use it there. */
import ts from "typescript";
import {
  type BuiltPackage,
  filesIn,
  packageFolder,
  pinned,
  readProject,
} from "../../scripts/upkeep/packages/package_files.ts";

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
  const library = await packageFolder(pinned(await readProject(), "jose"));
  const jose = await npm(folder, "pack", "--silent", library);
  await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true, "type": "module" }');
  await npm(folder, "install", "--offline", "--no-audit", "--no-fund", `./${jose.trim()}`, tarball);
}

/** The packages that an installed package's programs and types import, and those that its manifest names. */
export async function importsOf(
  folder: string,
): Promise<readonly [imported: readonly string[], named: readonly string[]]> {
  const imported = new Set<string>();
  for await (const path of filesIn(folder)) {
    if (!/\.(js|d\.ts)$/.test(path)) continue;
    const specifiers = (await Deno.readTextFile(path)).matchAll(
      /^(?:(?:import|export|\}).* from|import) "([^"]+)";$/gm,
    );
    for (const [, specifier = ""] of specifiers) {
      if (!/^(\.|node:(fs\/promises|https?|tls)$)/.test(specifier)) imported.add(specifier);
    }
  }
  const { dependencies } = JSON.parse(await Deno.readTextFile(`${folder}/package.json`)) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return [[...imported].sort(), Object.keys(dependencies).sort()];
}

/** What a program printed, and its exit status. */
interface Printed {
  readonly code: number;
  readonly text: string;
}

/** The command line's package. */
export interface PackagedCommandLine {
  run(...args: string[]): Promise<Printed>;
  /** Runs commands of a page, which begin with `npx`. */
  follow(commands: string): Promise<Printed>;
}

/**
 * Installs the command line with the Deno that it depends on, from npm's cache or its registry. Returns undefined, and
 * prints a warning, if this machine has neither.
 */
export async function installCommandLine(
  folder: string,
  { tarball }: BuiltPackage,
  env: Readonly<Record<string, string>>,
): Promise<PackagedCommandLine | undefined> {
  await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true }');
  const flags = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  try {
    await npm(folder, "install", ...flags, tarball);
  } catch (error) {
    if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.test(String(error))) throw error;
    const words =
      "\n*** SKIPPED: the command line's package was not tried, because npm cannot be reached ***\n\n";
    Deno.stdout.writeSync(new TextEncoder().encode(words));
    return undefined;
  }
  const start = async (program: string, args: string[]): Promise<Printed> => {
    const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd: folder, env }).output();
    return { code, text: [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") };
  };
  return {
    run: (...args) => start(`${folder}/node_modules/.bin/payment-initiation`, args), // what npx runs
    follow: (commands) => start("bash", ["-euc", commands]),
  };
}

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  types: [],
};

/** Type-checks programs in the folder with another version of TypeScript, a `tsc`. Returns what is wrong with them. */
export async function typeFaults(
  folder: string,
  files: readonly string[],
  tsc: string,
): Promise<readonly string[]> {
  const compilerOptions = { ...STRICT, target: "es2022", module: "nodenext", noEmit: true };
  const config = { compilerOptions, files: [...files, "node.d.ts"] };
  await Deno.writeTextFile(`${folder}/tsconfig.json`, JSON.stringify(config));
  const { stdout } = await new Deno.Command(tsc, { args: ["--pretty", "false", "-p", "."], cwd: folder })
    .output();
  return new TextDecoder().decode(stdout).trimEnd().split(/\n(?! )/); // more of a fault is indented
}

/** Type-checks programs in the folder with TypeScript 5, and writes their JavaScript. Returns what is wrong with them. */
export async function compile(folder: string, files: readonly string[]): Promise<readonly string[]> {
  await Deno.writeTextFile(`${folder}/node.d.ts`, NODE_TYPES);
  const options = { ...STRICT, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext };
  const program = ts.createProgram([...files, "node.d.ts"].map((file) => `${folder}/${file}`), options);
  program.emit();
  return ts.getPreEmitDiagnostics(program).map(({ file: at, messageText }) =>
    `${at?.fileName.replace(folder, "") ?? ""}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`
  );
}

/** The quickstart's programs, a TPP's and a bank's, and its commands that onboard them. */
export async function quickstart(): Promise<
  Readonly<Record<"tpp" | "bank" | "onboardTpp" | "onboardBank", string>>
> {
  const page = await Deno.readTextFile(`${root}docs/client.md`);
  const blocks = (language: string): readonly string[] =>
    [...page.matchAll(RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"))].map(([, code = ""]) => code);
  const [tpp = "", bank = ""] = blocks("js");
  const [onboardTpp = "", onboardBank = ""] = blocks("sh").filter((code) => code.includes(" onboard "));
  return { tpp, bank, onboardTpp, onboardBank };
}

async function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npm", { args: [...args], cwd }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`npm ${args[0]}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
