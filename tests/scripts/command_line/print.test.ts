/** What a program does if its output is read no longer. */
import { assertEquals } from "@std/assert";

const PRINT = new URL("../../../scripts/command_line/print.ts", import.meta.url).href;

Deno.test("a program whose output is read no longer, as behind head, ends as it would without an error", async () => {
  const program = `import { printLine } from "${PRINT}";
    for (let line = 0; line < 20_000; line++) printLine("line " + line);
    Deno.exit(3);`;
  const command = 'printf %s "$1" | "$2" run --no-check --quiet - | head -1; echo "${PIPESTATUS[1]}"';
  const { stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", command, "bash", program, Deno.execPath()],
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  assertEquals([text(stdout), text(stderr)], ["line 0\n3\n", ""]);
});
