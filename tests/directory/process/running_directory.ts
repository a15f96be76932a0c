/** A directory that runs as a process of its own. */
import { assertEquals } from "@std/assert";
import type { DirectoryFixture } from "support/directory_process.ts";
import type { ServedPlatform } from "testing/served_platform.ts";

export async function running(
  fixture: DirectoryFixture,
  test: (process: ServedPlatform) => Promise<void>,
  shell?: string,
): Promise<void> {
  const process = await fixture.start({}, shell);
  try {
    await process.ready;
    await test(process);
  } finally {
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0);
  }
}
