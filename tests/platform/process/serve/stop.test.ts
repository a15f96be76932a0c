/** `deno task serve` behind several proxies: how it leaves them before it stops, and a second signal. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { AUTH_URL } from "testing/environment.ts";
import { requestToken } from "testing/flows.ts";
import { openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import { connectRaw, until } from "support/raw_client.ts";

const KEYS = "GET /jwks HTTP/1.1\r\nHost: x\r\n\r\n";

Deno.test("serve leaves its proxies before it stops: its probe fails, then it accepts no connection, then it ends", async () => {
  await using environment = await openServedEnvironment({ PLATFORM_LAME_DUCK_SECONDS: "4" });
  const port = Number(environment.fixture.env["PORT"]);
  const kept = await connectRaw(port, KEYS);
  await readResponse(kept);
  assertEquals(await statusOf(environment, "/health/serving"), 200);
  environment.process.kill("SIGTERM");
  await environment.process.logged("platform.stopping");
  const states = await Promise.all(
    ["/health/serving", "/health/live", "/health/ready", "/jwks"].map((path) => statusOf(environment, path)),
  );
  assertEquals(states, [503, 200, 200, 200]);
  assertEquals((await requestToken(environment, environment.tpp)).status, 200);
  await kept.send(KEYS);
  assert(
    !/^connection: close/im.test(await readResponse(kept)),
    "connections are kept while new ones are accepted",
  );
  await until(() => connectRaw(port).then((client) => (client.close(), false), () => true));
  await kept.send(KEYS);
  assertMatch(await readResponse(kept), /^HTTP\/1\.1 200 [^]*^connection: close\r$/im);
  assertEquals(await environment.process.ended, { code: 0, stderr: "" });
  kept.close();
});

Deno.test("serve ends at once on a second signal, but takes two signals of one moment as one", async () => {
  await using environment = await openServedEnvironment({ PLATFORM_LAME_DUCK_SECONDS: "30" });
  environment.process.kill("SIGTERM");
  const { at } = await environment.process.logged("platform.stopping");
  environment.process.kill("SIGTERM");
  environment.process.kill("SIGINT");
  await until(() => Date.now() > Date.parse(String(at)) + 1500);
  assertEquals(await statusOf(environment, "/jwks"), 200);
  environment.process.kill("SIGTERM");
  assertEquals(await environment.process.ended, { code: 1, stderr: "" });
  const last = environment.process.lines.at(-1);
  assertEquals([last?.["event"], last?.["signal"]], ["platform.stopped_at_once", "SIGTERM"]);
});

async function statusOf(environment: ServedEnvironment, path: string): Promise<number> {
  const { status, body } = await environment.browser(new Request(`${AUTH_URL}${path}`));
  await body?.cancel();
  return status;
}

/** The whole response to one request. Its body ends with the key set. */
async function readResponse(client: Awaited<ReturnType<typeof connectRaw>>): Promise<string> {
  let text = "";
  for (let part = " "; part !== "" && !text.endsWith("]}");) text += part = await client.read();
  return text;
}
