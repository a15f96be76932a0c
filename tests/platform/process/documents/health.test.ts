/** The health endpoints: whether the process lives, whether proxies may use it, and whether it can work. */
import { assertEquals, assertMatch } from "@std/assert";
import { bodyOf, type Readiness } from "testing/answers.ts";
import { good, requestToken } from "testing/flows.ts";
import { assertBrowserHeaders } from "testing/front_channel.ts";
import { openEnvironment } from "testing/environment.ts";
import { breakableStore } from "support/breakable_store.ts";
import { open } from "support/open_page.ts";

const LOCKED = new Error("/var/lib/secret is locked");

Deno.test("GET /health/live answers while the process does, whatever else is broken [A7]", async () => {
  const { store, faults } = await breakableStore();
  await using env = await openEnvironment({ store });
  faults.failure = LOCKED;
  env.network = () => Promise.reject(new TypeError("connection refused"));
  const answer = await open(env, "/health/live");
  assertEquals([answer.status, await answer.json()], [200, { live: true }]);
  assertBrowserHeaders(answer);
});

Deno.test("GET /health/serving asks no other part, and never waits behind one that does [A7]", async () => {
  const { store, faults } = await breakableStore();
  await using env = await openEnvironment({ store });
  const hanging = Promise.withResolvers<void>();
  faults.hangs = hanging.promise;
  let answered = 0;
  const ready = (): Promise<Response> => open(env, "/health/ready").finally(() => answered += 1);
  const alarms = Array.from({ length: 10 }, ready); // more than the operator has places
  for (const path of ["/health/serving", "/health/live"]) {
    const answer = await open(env, path);
    assertEquals(answer.status, 200, path);
    await answer.body?.cancel();
  }
  assertEquals(answered, 0);
  hanging.resolve();
  for (const alarm of alarms) await (await alarm).body?.cancel();
});

Deno.test("GET /health/serving is 503 while proxies must not use the process, and readiness is not [A7]", async () => {
  let serving = true;
  await using env = await openEnvironment({ isServing: () => serving });
  const state = async (path: string): Promise<unknown[]> => {
    const answer = await open(env, path);
    assertBrowserHeaders(answer);
    return [answer.status, (await bodyOf<{ readonly serving?: boolean }>(answer)).serving];
  };
  assertEquals(await state("/health/serving"), [200, true]);
  serving = false;
  assertEquals(await state("/health/serving"), [503, false]);
  assertEquals((await state("/health/live"))[0], 200);
  assertEquals((await state("/health/ready"))[0], 200);
});

Deno.test("GET /health/ready: 200 with every part, 503 while the store fails, 200 again afterwards [A7]", async () => {
  const { store, faults } = await breakableStore();
  await using env = await openEnvironment({ store });
  const ready = await open(env, "/health/ready");
  assertBrowserHeaders(ready);
  const { ready: isReady, parts } = await bodyOf<Readiness>(ready);
  assertEquals([ready.status, isReady, parts["store"], parts["directory"]], [200, true, { ok: true }, {
    ok: true,
  }]);
  faults.failure = LOCKED;
  const broken = await open(env, "/health/ready");
  const body = await bodyOf<Readiness>(broken);
  assertEquals([broken.status, body.ready, body.parts["store"]], [503, false, {
    ok: false,
    detail: "cannot be read or written",
  }]);
  assertEquals(JSON.stringify(body).includes("/var/lib/secret"), false);
  delete faults.failure;
  assertEquals((await open(env, "/health/ready")).status, 200);
});

Deno.test("GET /health/ready stays 200 while the directory is down, and says so [A9]", async () => {
  await using env = await openEnvironment();
  env.network = () => Promise.reject(new TypeError("connection refused"));
  env.now += 301_000;
  await good(requestToken(env, env.tpp), 200); // on the last good copy of the TPP's keys
  const { ready, parts } = await good<Readiness>(open(env, "/health/ready"), 200);
  assertEquals([ready, parts.store?.ok, parts.directory?.ok], [true, true, false]);
  assertMatch(parts.directory?.detail, /301 s old/);
});
