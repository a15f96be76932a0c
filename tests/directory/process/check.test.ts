/** `deno task directory --check`: one line for each thing that a start needs, and nothing is changed. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { openDirectoryFixture } from "support/directory_process.ts";
import { taskCommand } from "testing/served_platform.ts";

Deno.test("directory --check examines the configuration, the keys and the database, and makes none [F10]", async () => {
  await using fixture = await openDirectoryFixture();
  const [program = "", ...args] = await taskCommand("directory");
  const check = async (changes: Readonly<Record<string, string>>): Promise<readonly [number, string]> => {
    const { code, stdout } = await new Deno.Command(program, {
      args: [...args, "--check"],
      cwd: fixture.folder,
      env: { NO_COLOR: "1", ...fixture.env, ...changes },
    }).output();
    return [code, new TextDecoder().decode(stdout)];
  };
  const [code, text] = await check({});
  const names = [...text.matchAll(/^ok +(\w+): /gm)].map(([, name]) => name);
  assertEquals([code, names], [0, ["configuration", "keys", "database"]], text);
  const files = (await Array.fromAsync(Deno.readDir(fixture.own))).map(({ name }) => name);
  assertEquals(files.filter((name) => name.startsWith("directory.kv")), []);
  await Deno.writeTextFile(`${fixture.own}/password`, "secret\n", { mode: 0o644 });
  await Deno.chmod(`${fixture.own}/password`, 0o644);
  const [failed, faults] = await check({
    DIRECTORY_SMTP_PASSWORD_FILE: `${fixture.own}/password`,
    DIRECTORY_CA_KEY: "none.pem",
  });
  assertEquals(failed, 1);
  assertStringIncludes(
    faults,
    "fault  configuration: DIRECTORY_SMTP_PASSWORD_FILE: group or others may open",
  );
  assertStringIncludes(faults, "fault  configuration: DIRECTORY_CA_KEY");
});

Deno.test("directory refuses an option that it does not have, with the status of a wrong command line [F10]", async () => {
  const [program = "", ...args] = await taskCommand("directory");
  for (const wrong of [["--chek"], ["--check", "now"]]) {
    const { code, stderr } = await new Deno.Command(program, { args: [...args, ...wrong] }).output();
    const words = `the command line has "${wrong.join(" ")}"; it takes --check\n`;
    assertEquals([code, new TextDecoder().decode(stderr)], [2, words]);
  }
});
