/** The memory of `deno task serve` while many clients ask for its largest document at once and do not read it. */
import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { peakMegabytes } from "../../../../scripts/proofs/bench/process.ts";
import { openFixture } from "testing/served_environment.ts";
import { startPlatform } from "testing/served_platform.ts";
import { connectRaw } from "support/raw_client.ts";

const CLIENTS = 200;
const REQUEST = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
const MAX_MEGABYTES = 220;
/** Three times what the responses of all clients take. Documents made anew for each client need more. */
const MAX_GROWTH_MEGABYTES = 60;
/** The process ends if its heap needs more. What is resident beside the heap is measured. */
const BOUNDED_HEAP = { DENO_V8_FLAGS: "--max-old-space-size=64" };

Deno.test({
  name: "200 parallel clients of /openapi.json that do not read it leave a process of 220 MB alive",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using fixture = await openFixture();
    const process = await startPlatform(fixture.folder, { ...fixture.env, ...BOUNDED_HEAP });
    try {
      await process.ready;
      const port = Number(fixture.env["PORT"]);
      await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).body?.cancel(); // makes the document
      const before = await peakMegabytes(process.pid);
      const connecting = Array.from({ length: CLIENTS }, () => connectRaw(port, REQUEST));
      const clients = await Promise.all(connecting);
      const answers = await Promise.all(clients.map((client) => client.read()));
      for (const answer of answers) assertMatch(answer, /^HTTP\/1\.1 (200|503) /);
      assert(answers.some((answer) => answer.startsWith("HTTP/1.1 200")));
      const alive = await fetch(`http://127.0.0.1:${port}/health/live`);
      assertEquals(await alive.json(), { live: true });
      const peak = await peakMegabytes(process.pid);
      assertLess(peak, MAX_MEGABYTES);
      assertLess(peak - before, MAX_GROWTH_MEGABYTES);
      for (const client of clients) client.close();
    } finally {
      process.kill("SIGKILL");
      await process.ended;
    }
  },
});
