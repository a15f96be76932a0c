/** `PLATFORM_KEEP_CASES_DAYS` of the sandbox reaches its platform, so that an erasure can be tried (contract EN11). */
import { assertEquals, assertMatch } from "@std/assert";
import { freeSandboxPorts } from "../../../scripts/command_line/free_ports.ts";
import { startSandbox } from "support/sandbox_process.ts";

Deno.test("PLATFORM_KEEP_CASES_DAYS of the sandbox is its platform's, and a fault in it is said", async () => {
  const dir = `${await Deno.makeTempDir()}/sandbox`;
  try {
    const started = startSandbox({
      SANDBOX_DIR: dir,
      SANDBOX_PORT: String(freeSandboxPorts()),
      PLATFORM_KEEP_CASES_DAYS: "many",
    });
    const { code, stderr } = await started.ended;
    assertEquals(code === 0, false);
    assertMatch(stderr, /KEEP_CASES_DAYS/);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
