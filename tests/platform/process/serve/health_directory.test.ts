/** `GET /health/ready`: what an operator sees of a directory that fails (Decision A9). */
import { assertEquals } from "@std/assert";
import { FAILURES, readiness } from "support/directory_network.ts";
import { tokenStatus } from "testing/flows.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";

test("GET health/ready shows that the directory fails, stays ready, and no longer shows it when the directory is back [A9]", async ({ env, t }) => {
  const well = { ready: true, parts: { store: { ok: true }, directory: { ok: true }, clock: { ok: true } } };
  await steps(t, FAILURES, async (fail) => {
    assertEquals(await readiness(env), { status: 200, body: well });
    env.network = fail();
    env.now += 400_000;
    assertEquals(await tokenStatus(env), 200);
    const ill = await readiness(env);
    assertEquals([ill.status, ill.body.ready, ill.body.parts["directory"]], [200, true, {
      ok: false,
      detail: "the status list is 400 s old and could not be renewed; " +
        "key sets are up to 400 s old and could not be renewed",
    }]);
    env.network = (request) => env.directory.fetch(request);
    env.now += 30_000;
    assertEquals(await tokenStatus(env), 200);
    assertEquals(await readiness(env), { status: 200, body: well });
  });
});

test("GET health/ready does not complain about participants who are merely silent, nor for ever [A9]", async ({ env }) => {
  env.now += 100_000_000; // every copy is old, none was asked for
  assertEquals((await readiness(env)).body.parts["directory"], { ok: true });
  env.network = FAILURES["status 500"]?.() ?? env.network;
  assertEquals(await tokenStatus(env), 503);
  assertEquals((await readiness(env)).body.parts["directory"]?.ok, false);
  env.now += 900_000; // no request since, so the state of the directory is unknown
  assertEquals((await readiness(env)).body.parts["directory"], { ok: true });
});
