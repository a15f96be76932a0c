/** `deno task help` has each task of deno.json once, with its description and without its permissions. */
import { assertEquals, assertMatch } from "@std/assert";
import { PARTS, TASK_GROUPS } from "../../../../scripts/upkeep/help/task_groups.ts";

const root = new URL("../../../../", import.meta.url);

Deno.test("each task of deno.json has one place in deno task help, or is a part of another task", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root))) as {
    readonly tasks: Readonly<Record<string, unknown>>;
  };
  const placed = [...Object.values(TASK_GROUPS).flat(), ...PARTS];
  assertEquals(placed.toSorted(), Object.keys(tasks).toSorted());
});

Deno.test("deno task help prints the groups and descriptions, and no permission", async () => {
  const { stdout, code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--no-prompt", "--allow-read=deno.json", "scripts/upkeep/help/main.ts"],
    cwd: root.pathname,
  }).output();
  const text = new TextDecoder().decode(stdout);
  assertEquals(code, 0);
  assertMatch(text, /\nTry it\n {2}start +The whole ecosystem on this computer, for trying out\n/);
  assertEquals(/--allow-|--no-prompt/.test(text), false);
});
