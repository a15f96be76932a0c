/**
 * The command line as a package: the tasks for TPPs and banks, and the sandbox, each as a bundle that the package's own
 * Deno runs with the permissions of the task in `deno.json`.
 */
import ts from "typescript";
import { COMMANDS_PACKAGE, PACKAGED_COMMANDS } from "../../../src/portal/addresses.ts";
import { ROOT } from "../sources/source_files.ts";
import {
  type BuiltPackage,
  bundleTo,
  emptyFolder,
  filesIn,
  pack,
  type Project,
  readProject,
  run,
} from "./package_files.ts";

/** One command of the package, as `run_command.ts` reads it. */
export interface PackagedCommand {
  readonly description: string;
  /** Below the package's folder. */
  readonly file: string;
  /** For `deno run`. */
  readonly flags: readonly string[];
}

/** Builds the package below `out`. @throws {Error} if a tool fails or a task is not a program */
export async function buildCliPackage(out: string = `${ROOT}.data/packages`): Promise<BuiltPackage> {
  const project = await readProject();
  const folder = `${out}/cli`;
  await emptyFolder(folder);
  const programs = PACKAGED_COMMANDS.map((task) => [task, programOf(project, task)] as const);
  await bundleTo(`${folder}/dist`, programs.map(([, { source }]) => source), ["--keep-names"]);
  await nameCommands(`${folder}/dist`);
  const commands = Object.fromEntries(
    programs.map(([task, { source, description, flags }]): [string, PackagedCommand] => [
      task,
      { description, file: `dist/${source.replace(/\.ts$/, ".js")}`, flags },
    ]),
  );
  for (const { file } of Object.values(commands)) await Deno.stat(`${folder}/${file}`);
  await Deno.writeTextFile(`${folder}/commands.json`, JSON.stringify(commands, null, 2));
  await Deno.writeTextFile(`${folder}/run_command.js`, await launcher());
  await Deno.copyFile(`${ROOT}scripts/upkeep/packages/cli_readme.md`, `${folder}/README.md`);
  return await pack(folder, manifestOf(project), await containedIn(programs.map(([, { source }]) => source)));
}

interface Program {
  readonly source: string;
  readonly description: string;
  readonly flags: readonly string[];
}

function programOf({ tasks }: Project, name: string): Program {
  const task = tasks[name];
  const { command = "", description = "" } = typeof task === "object" ? task : {};
  const [, line = "", source] = /^deno run (.*) ((?:scripts|src)\/\S+\.ts)$/.exec(command) ?? [];
  if (source === undefined) {
    throw new Error(`The task ${name} of deno.json does not run a program of the project.`);
  }
  const flags = line.split(" ").filter((flag) => /^(--allow-|--no-prompt$|-q$)/.test(flag));
  return { source, description, flags };
}

/** The texts name the commands as they are called without the repository. */
async function nameCommands(dist: string): Promise<void> {
  const deno = String.raw`npx -y deno@(?:[\d.]+|\$\{[\w.]+\})`;
  const called = new RegExp(`(?:${deno}|deno) task (?=(?:${PACKAGED_COMMANDS.join("|")})\\b|\\$\\{)`, "g");
  const asConstant = new RegExp(`${deno} task(?=["'\`])`, "g");
  for await (const path of filesIn(dist)) {
    const text = await Deno.readTextFile(path);
    const named = text.replaceAll(called, `npx ${COMMANDS_PACKAGE} `).replaceAll(
      asConstant,
      `npx ${COMMANDS_PACKAGE}`,
    );
    await Deno.writeTextFile(path, named);
  }
}

async function launcher(): Promise<string> {
  const source = await Deno.readTextFile(`${ROOT}scripts/upkeep/packages/run_command.ts`);
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 },
  });
  return `#!/usr/bin/env node\n${outputText}`;
}

/** The libraries in the programs' graphs. */
async function containedIn(sources: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const source of sources) {
    const graph = JSON.parse(await run(Deno.execPath(), ["info", "--json", source])) as Graph;
    const open = graph.modules.flatMap(({ npmPackage }) => npmPackage ?? []);
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const { name, version, dependencies } = graph.npmPackages[id] ?? {};
      const library = `${name}@${version}`;
      if (dependencies === undefined || found.has(library)) continue;
      found.add(library);
      open.push(...dependencies);
    }
  }
  return [...found].sort();
}

interface Graph {
  readonly modules: readonly { readonly npmPackage?: string }[];
  readonly npmPackages: Readonly<
    Record<
      string,
      { readonly name: string; readonly version: string; readonly dependencies: readonly string[] }
    >
  >;
}

function manifestOf({ version, license }: Project): { readonly name: string } & Record<string, unknown> {
  return {
    name: COMMANDS_PACKAGE,
    version,
    description: "The sandbox of the payment initiation platform, and the commands for TPPs and banks",
    license,
    type: "module",
    bin: { "payment-initiation": "run_command.js" },
    files: ["dist", "commands.json", "run_command.js", "THIRD_PARTY_LICENSES.md"],
    engines: { node: ">=20.18" },
    dependencies: { deno: Deno.version.deno },
    publishConfig: { access: "public", provenance: true },
  };
}
