/** The runtimes that the client library supports, as far as this machine has them. */

/** How a program is started on a runtime, with the file of a bundle. */
export type Runtime = readonly [name: string, command: (bundle: string) => readonly string[]];

const root = new URL("../../", import.meta.url).pathname;
/** `.ci/run` installs it from npm; a Bun of the machine serves as well. */
const BUNS = [`${root}.data/bun/node_modules/.bin/bun`, "bun"];
const DENO_FLAGS = ["--no-prompt", "--allow-net", "--allow-read", "--allow-env"];

/** Returns Deno and what else is installed. Prints a warning for each that is missing. */
export function installedRuntimes(): readonly Runtime[] {
  const bun = BUNS.find(runs);
  const node = ["node"].find(runs);
  return [
    ["Deno", (bundle) => [Deno.execPath(), "run", ...DENO_FLAGS, bundle]],
    ...there("Node", node),
    ...there("Bun", bun),
  ];
}

function there(name: string, program: string | undefined): readonly Runtime[] {
  if (program !== undefined) return [[name, (bundle) => [program, bundle]]];
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
