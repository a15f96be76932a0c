/** On Node the platform gives up writing when it has started. The file runs where `PLATFORM_RUNTIME` names Node. */
import { assertEquals } from "@std/assert";
import { isNode, otherProgram } from "testing/other_runtime.ts";

const MODULE = new URL("../../../../src/base/http/node_permissions.ts", import.meta.url).href;

/** Writes a file before and after; prints what became of it. */
function program(file: string, keepWriting: boolean): string {
  return `const fs = require("node:fs");
    const write = () => { try { fs.writeFileSync(${
    JSON.stringify(file)
  }, "x"); return "wrote" } catch (e) { return e.code } };
    const run = () => { try { require("node:child_process").execSync("true"); return "ran" } catch (e) { return e.code } };
    import(${JSON.stringify(MODULE)}).then(({ giveUpOnNode }) => {
      const before = [write(), run()];
      giveUpOnNode(process, ${keepWriting});
      console.log(JSON.stringify([...before, write(), run()]));
    });`;
}

/** It registers only where it can run: `task test:runtimes` runs it on Node. */
if (otherProgram !== undefined && isNode(otherProgram)) {
  Deno.test("the platform on Node writes no file and starts no program after its start [F7]", async () => {
    const file = await Deno.makeTempFile();
    const run = async (flags: readonly string[], keepWriting: boolean): Promise<unknown> => {
      const args = ["--disable-warning=ExperimentalWarning", ...flags, "-e", program(file, keepWriting)];
      const { stdout } = await new Deno.Command(otherProgram ?? "", { args }).output();
      return JSON.parse(new TextDecoder().decode(stdout));
    };
    const all = ["--permission", "--allow-fs-read=*", "--allow-fs-write=*", "--allow-child-process"];
    const denied = "ERR_ACCESS_DENIED";
    assertEquals(await run(all, false), ["wrote", "ran", denied, denied]);
    assertEquals(await run(all, true), ["wrote", "ran", "wrote", denied]);
    assertEquals(await run([], false), ["wrote", "ran", "wrote", "ran"], "without the permission model");
    await Deno.remove(file);
  });
}
