/** The sandbox's clock: every advance counts, also of two at once, and is kept. */
import { assertEquals } from "@std/assert";
import { openSandboxClock } from "../../../src/sandbox/ecosystem/clock.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

Deno.test("two advances of the sandbox's clock at once both count", async () => {
  await using dir = await openTemporaryFolder();
  const clock = await openSandboxClock(`${dir.path}/clock.json`);
  assertEquals(await Promise.all([clock.advance(1000), clock.advance(2000)]), [true, true]);
  assertEquals(clock.aheadMs(), 3000);
  assertEquals(await clock.advance(-4_000_000), false);
  assertEquals((await openSandboxClock(`${dir.path}/clock.json`)).aheadMs(), 3000);
});
