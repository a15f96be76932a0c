/** `deno task directory` on a database that cannot be written for a while, or that is gone. */
import { assertEquals } from "@std/assert";
import { openDirectoryFixture } from "support/directory_process.ts";
import { rejectionOf } from "testing/answers.ts";
import { software, thirdParty } from "testing/directory_environment.ts";
import { startCommand, taskCommand } from "testing/served_platform.ts";
import { failWrites, withoutSizeSignal } from "support/store_faults.ts";

Deno.test("the directory publishes while it cannot write, answers changes with 503, and goes on by itself [E2] [E3]", async () => {
  await using fixture = await openDirectoryFixture();
  const command = withoutSizeSignal(await taskCommand("directory"));
  const process = startCommand(command, fixture.folder, fixture.env, "directory.started");
  await process.ready;
  const started = process.lines.find(({ event }) => event === "directory.started");
  assertEquals(started?.["console"], `http://localhost:${new URL(fixture.adminUrl).port}/console`);
  const own = { environment: "Production", redirect_uris: ["https://shop.example/callback"] };
  const details = JSON.stringify(await thirdParty([0, 1], { software: { ...software(), ...own } }));
  const headers = { authorization: `Bearer ${fixture.token}`, "content-type": "application/json" };
  const onboard = (): Promise<Response> =>
    fetch(`${fixture.adminUrl}/participants`, { method: "POST", headers, body: details });
  const fault = await failWrites(process.pid);
  for (let change = 0; change < 3; change++) {
    const answer = await onboard();
    const { error } = await rejectionOf(answer);
    assertEquals([answer.status, error, answer.headers.get("retry-after")], [
      503,
      "temporarily_unavailable",
      "5",
    ]);
  }
  assertEquals(await statusOf(`${fixture.adminUrl}/health`), 503);
  for (const path of ["/health", "/participants", "/status"]) {
    assertEquals(await statusOf(`${fixture.url}${path}`), 200, path);
  }
  await fault.mend();
  const answer = await onboard();
  assertEquals(answer.status, 201, await answer.text());
  while (await statusOf(`${fixture.adminUrl}/health`) !== 200) await new Promise((go) => setTimeout(go, 200));
  await process.logged("directory.store_working");
  process.kill("SIGTERM");
  assertEquals((await process.ended).code, 0);
  const events = process.lines.filter(({ level }) => level !== "info").map(({ event }) => event);
  assertEquals(events, ["directory.store_failing", "directory.store_working"]);
});

Deno.test("the directory does not start on a database that was deleted while it was stopped, and says what to do", async () => {
  await using fixture = await openDirectoryFixture();
  const first = await fixture.start();
  await first.ready;
  first.kill("SIGTERM");
  assertEquals((await first.ended).code, 0);
  const path = fixture.env["DIRECTORY_STORE_URL"] ?? "";
  await Deno.remove(`${fixture.folder}/${path}`);
  assertEquals(await (await fixture.start()).ended, {
    code: 1,
    stderr: "The directory's configuration is not usable:\n" +
      `  - DIRECTORY_STORE_URL: The database ${path} is missing, although it was in use here (${path}.id names ` +
      `it). Restore a backup. To begin with an empty database, delete ${path}.id and ${path}-wal.\n`,
  });
});

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url);
  await answer.body?.cancel();
  return answer.status;
}
