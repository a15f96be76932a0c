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

async function run(name: string, ...given: readonly string[]): Promise<Ended> {
  const [program = "", ...args] = await taskCommand(name);
  const command = new Deno.Command(program, {
    args: [...args, ...given],
    env: { NO_COLOR: "1" },
    stdin: "null",
  });
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
    assertEquals(help.err, "");
    if (unknown === undefined) return;
    assertEquals([unknown.code, unknown.out], [2, ""], unknown.err);
    assertMatch(unknown.err, /--nonsense|--help|task/);
  });
}

Deno.test("a word or an option that is mistyped gets a suggestion, before or after the command", async () => {
  const lines = {
    "store bakup --to x": "backup",
    "log witnes --file x": "witness",
    "sign asertion": "assertion",
    "platform-keys mke": "make",
    "case --jsno 1": "--json",
    "case verify f --patform x": "--platform",
    "inspect --nmae a x": "--name",
    "log checkpoint --ulr x": "--url",
    "proxy-config nginx --overwrit": "--overwrite",
    "ops orders --stat dead": "--state",
    "ops --jsno orders": "--json",
  };
  const ended = await Promise.all(
    Object.keys(lines).map((line) => run(line.split(" ")[0] ?? "", ...line.split(" ").slice(1))),
  );
  const said = ended.map(({ code, out, err }) => [code, out, /Did you mean (\S+)\?/.exec(err)?.[1] ?? err]);
  assertEquals(said, Object.values(lines).map((word) => [2, "", word]));
});
