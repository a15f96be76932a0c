import { assertEquals, assertRejects } from "@std/assert";
import { waitForListener, waitUntil } from "testing/waiting.ts";
import { freePort } from "../../../scripts/command_line/free_ports.ts";

Deno.test("waitUntil asks until it is so, and says what has not happened, with the log", async () => {
  let asked = 0;
  await waitUntil("it is so", () => Promise.resolve(++asked === 3));
  assertEquals(asked, 3);
  const log = await Deno.makeTempFile();
  await Deno.writeTextFile(log, "no certificate");
  const never = (): Promise<void> =>
    waitUntil("it starts", () => Promise.resolve(false), { seconds: 0, log });
  await assertRejects(never, Error, "it starts: not within 0 s: no certificate");
  await Deno.remove(log);
});

Deno.test("waitForListener ends when a program listens", async () => {
  const port = freePort();
  const waits = waitForListener(port);
  using _listener = Deno.listen({ hostname: "127.0.0.1", port });
  await waits;
});
