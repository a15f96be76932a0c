import { assert, assertEquals, assertMatch } from "@std/assert";
import { taskCommand } from "testing/served_platform.ts";
import { TASK_GROUPS } from "../../../scripts/upkeep/help/task_groups.ts";

/** Tasks of several commands, or that list the tasks whatever they are told. */
const NO_PROGRAMS = ["help", "bundle", "prove:node", "prove:bun", "prove:runtimes"];
/** Configuration faults come before those of the command line. */
const SERVERS = ["serve", "directory"];

const GROUPS = [
  "Try it",
  "TPPs and banks",
  "Operators of the platform",
  "Operators of the directory",
  "Developers: proofs and figures",
];
const PROGRAMS = GROUPS.flatMap((group) => TASK_GROUPS[group] ?? [])
  .filter((name) => !NO_PROGRAMS.includes(name));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(name: string, arg: string): Promise<Ended> {
  const [program = "", ...args] = await taskCommand(name);
  const command = new Deno.Command(program, { args: [...args, arg], env: { NO_COLOR: "1" }, stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr) };
}

for (const name of PROGRAMS) {
  Deno.test(`task ${name}: --help is on standard output with 0, an unknown option on standard error with 2`, async () => {
    const [help, unknown] = await Promise.all([
      run(name, "--help"),
      SERVERS.includes(name) ? undefined : run(name, "--nonsense"),
    ]);
    assertEquals(help.code, 0, help.err);
    assert(help.out.includes(`task ${name === "erase" ? "ops" : name}`), help.out);
    if (!SERVERS.includes(name)) assertEquals(help.err, "");
    if (unknown === undefined) return;
    assertEquals([unknown.code, unknown.out], [2, ""], unknown.err);
    assertMatch(unknown.err, /--nonsense|--help|task/);
  });
}
