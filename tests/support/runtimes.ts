/** The runtimes that the client library supports, as far as this machine has them. */

/** How a program is started on a runtime. */
export type Runtime = readonly [name: string, command: (file: string) => readonly string[]];

const root = new URL("../../", import.meta.url).pathname;
/** `.ci/run` installs these from npm; a Bun of the machine serves as well. */
const BUNS = [`${root}.data/bun/node_modules/.bin/bun`, "bun"];
const NEWEST_NODE = `${root}.data/node/node_modules/.bin/node`;
const DENO_FLAGS = ["--no-prompt", "--no-lock", "--allow-net", "--allow-read", "--allow-env"];

/** Returns Deno and what else is installed. Prints a warning for each that is missing. */
export function installedRuntimes(): readonly Runtime[] {
  return [
    ["Deno", (file) => [Deno.execPath(), "run", ...DENO_FLAGS, file]],
    ...there("the machine's Node", ["node"].find(runs)),
    ...there("the newest Node", [NEWEST_NODE].find(runs)),
    ...there("Bun", BUNS.find(runs)),
  ];
}

function there(name: string, program: string | undefined): readonly Runtime[] {
  if (program !== undefined) return [[name, (file) => [program, file]]];
  const words = `\n*** SKIPPED: the client library was not tried on ${name}, which is missing ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return [];
}

function runs(program: string): boolean {
  try {
    return new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
