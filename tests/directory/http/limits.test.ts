/** How often one client may read the directory, and that neither clients nor time make its memory grow. */
import { assert, assertEquals } from "@std/assert";
import { clientNetwork } from "../../../src/directory/http/public_limit.ts";
import { openLimiter } from "../../../src/base/kernel/recently_used.ts";
import {
  type DirectoryEnvironment,
  ISSUER,
  openDirectoryEnvironment,
} from "testing/directory_environment.ts";

async function read(
  env: DirectoryEnvironment,
  address: string,
  headers: Record<string, string> = {},
  path = "/status",
): Promise<[number, string | null]> {
  const answer = await env.publicFetch(new Request(`${ISSUER}${path}`, { headers }), address);
  await answer.body?.cancel();
  return [answer.status, answer.headers.get("retry-after")];
}

Deno.test("one client's reads are limited, and no other client waits for it [E2]", async () => {
  await using env = await openDirectoryEnvironment({ publicLimit: { perSecond: 1, burst: 5 } });
  for (let count = 0; count < 5; count++) assertEquals(await read(env, "192.0.2.1"), [200, null]);
  assertEquals(await read(env, "192.0.2.1"), [429, "1"]);
  assertEquals(await read(env, "192.0.2.1", {}, "/no/such/path"), [429, "1"], "unknown paths count as well");
  assertEquals(await read(env, "192.0.2.2"), [200, null]);
  env.now += 1000;
  assertEquals(await read(env, "192.0.2.1"), [200, null]);
  assertEquals(await read(env, "192.0.2.1"), [429, "1"]);
});

Deno.test("behind a proxy the client is whom X-Real-IP names [E2]", async () => {
  await using env = await openDirectoryEnvironment({ publicLimit: { perSecond: 1, burst: 1 } });
  assertEquals((await read(env, "127.0.0.1", { "x-real-ip": "192.0.2.1" }))[0], 200);
  assertEquals((await read(env, "127.0.0.1", { "x-real-ip": "192.0.2.1" }))[0], 429);
  assertEquals((await read(env, "127.0.0.1", { "x-real-ip": "192.0.2.2" }))[0], 200);
  assertEquals((await read(env, "127.0.0.1", { "x-real-ip": "<script>" }))[0], 200, "as the proxy itself");
  assertEquals((await read(env, "127.0.0.1"))[0], 429);
});

Deno.test("an IPv6 client is its /64 network, however it is written", () => {
  const network = "2001:db8:0:1";
  for (
    const address of ["2001:db8:0:1::1", "2001:DB8::1:ffff:0:0:2", "2001:0db8:0000:0001:1:2:3:4"]
  ) assertEquals(clientNetwork(address, "::1"), network, address);
  assertEquals(clientNetwork("::ffff:192.0.2.7", "::1"), "192.0.2.7");
  assertEquals(clientNetwork(undefined, "::1"), "0:0:0:0");
  assertEquals(clientNetwork("not an address", "192.0.2.1"), "192.0.2.1");
});

Deno.test("a limiter remembers a bounded number of clients, those of last", () => {
  let now = 0;
  const limiter = openLimiter({ perSecond: 1, burst: 1, maxKeys: 100 }, () => now);
  assertEquals(limiter.take("first"), 0);
  assertEquals(limiter.take("first"), 1);
  for (let count = 0; count < 99; count++) limiter.take(`client ${count}`);
  assertEquals(limiter.take("first"), 1, "still remembered");
  const before = Deno.memoryUsage().heapUsed;
  for (let count = 0; count < 200_000; count++) limiter.take(`flood ${count}`);
  assert(Deno.memoryUsage().heapUsed - before < 30_000_000);
  assertEquals(limiter.take("first"), 0, "forgotten");
  now -= 5000;
  assertEquals(limiter.take("first"), 1, "a clock that goes back gives no token");
});
