/** The counting of `.ci/run`: tests that fail beside others run once more, and nothing else that fails is lost. */
import { assertEquals } from "@std/assert";

const CHECKS = new URL("../../../.ci/checks.sh", import.meta.url).pathname;

/** Runs modules as `.ci/run` does. Returns the line with the counts. */
async function counted(modules: Readonly<Record<string, string>>): Promise<string | undefined> {
  const folder = await Deno.makeTempDir({ prefix: "gate-" });
  try {
    await Deno.mkdir(`${folder}/.data/tests`, { recursive: true });
    for (const [name, text] of Object.entries(modules)) {
      await Deno.writeTextFile(`${folder}/.data/tests/${name}.test.ts`, text);
    }
    const script = `source "${CHECKS}"; passed=0 failed=0 running= logs=. last_second=100 deno=("$0")
      run_tests 60 "$0" test --no-check --parallel -A .data/tests; echo "$passed passed, $failed failed"`;
    const command = new Deno.Command("bash", {
      args: ["-c", script, Deno.execPath()],
      cwd: folder,
      env: { NO_COLOR: "1" },
    });
    return new TextDecoder().decode((await command.output()).stdout).trim().split("\n").at(-1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the gate runs what failed once more, also a module that failed outside of its tests", async () => {
  const once =
    `try { Deno.statSync("marker"); } catch { Deno.writeTextFileSync("marker", ""); throw new Error("once"); }`;
  const flaky = `Deno.test("flaky", () => { ${once} });`;
  assertEquals(await counted({ flaky }), "1 passed, 0 failed");
  const broken = `Deno.test("fine", () => {}); throw new Error("always");`;
  assertEquals(await counted({ flaky, broken }), "0 passed, 2 failed");
});
