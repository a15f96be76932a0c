/** The health endpoints of load balancers: whether the process lives, and whether it can work. */
import { assertEquals, assertMatch } from "@std/assert";
import { good, requestToken } from "testing/flows.ts";
import { assertBrowserHeaders } from "testing/front_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Store } from "../../../src/base/store/store.ts";

const AUTH = "https://auth.platform.example";

Deno.test("GET /health/live answers while the process does, whatever else is broken [A7]", async () => {
  const { store, faults } = await breakableStore();
  await using env = await openEnvironment({ store });
  faults.broken = true;
  env.network = () => Promise.reject(new TypeError("connection refused"));
  const answer = await open(env, "/health/live");
  assertEquals([answer.status, await answer.json()], [200, { live: true }]);
  assertBrowserHeaders(answer);
});

Deno.test("GET /health/ready: 200 with every part, 503 while the store fails, 200 again afterwards [A7]", async () => {
  const { store, faults } = await breakableStore();
  await using env = await openEnvironment({ store });
  const ready = await open(env, "/health/ready");
  assertBrowserHeaders(ready);
  const { ready: isReady, parts } = await ready.json();
  assertEquals([ready.status, isReady, parts.store, parts.directory], [200, true, { ok: true }, {
    ok: true,
  }]);
  faults.broken = true;
  const broken = await open(env, "/health/ready");
  const body = await broken.json();
  assertEquals([broken.status, body.ready, body.parts.store], [503, false, {
    ok: false,
    detail: "cannot be read or written",
  }]);
  assertEquals(JSON.stringify(body).includes("/var/lib/secret"), false);
  faults.broken = false;
  assertEquals((await open(env, "/health/ready")).status, 200);
});

Deno.test("GET /health/ready stays 200 while the directory is down, and says so [A9]", async () => {
  await using env = await openEnvironment();
  env.network = () => Promise.reject(new TypeError("connection refused"));
  env.now += 301_000;
  await good(requestToken(env, env.tpp), 200); // on the last good copy of the TPP's keys
  const { ready, parts } = await good(open(env, "/health/ready"), 200);
  assertEquals([ready, parts.store.ok, parts.directory.ok], [true, true, false]);
  assertMatch(parts.directory.detail, /301 s old/);
});

function open(env: Environment, path: string, init: RequestInit = {}): Promise<Response> {
  return env.browser(new Request(`${AUTH}${path}`, init));
}

async function breakableStore(): Promise<{ store: Store; faults: { broken: boolean } }> {
  const kv = await openDenoKv(":memory:");
  const faults = { broken: false };
  const store: Store = {
    ...kv,
    get: <T>(key: Parameters<Store["get"]>[0]) =>
      faults.broken ? Promise.reject(new Error("/var/lib/secret is locked")) : kv.get<T>(key),
  };
  return { store, faults };
}
