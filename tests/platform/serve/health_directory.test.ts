/** `GET /health/ready`: what an operator sees of a directory that fails (Decision A9). */
import { assertEquals } from "@std/assert";
import { FAILURES, readiness } from "../../support/directory_network.ts";
import { requestToken } from "../../../scripts/testing/flows.ts";
import { openWorld, type World } from "../../../scripts/testing/environment.ts";

async function tokenStatus(world: World): Promise<number> {
  return (await requestToken(world, world.tpp)).status;
}

Deno.test("GET health/ready shows that the directory fails, stays ready, and forgets when it is back [A9]", async (t) => {
  await using world = await openWorld();
  const well = { ready: true, parts: { store: { ok: true }, directory: { ok: true } } };
  for (const [name, fail] of Object.entries(FAILURES)) {
    await t.step(name, async () => {
      assertEquals(await readiness(world), { status: 200, body: well });
      world.network = fail();
      world.now += 400_000;
      assertEquals(await tokenStatus(world), 200);
      const ill = await readiness(world);
      assertEquals([ill.status, ill.body.ready, ill.body.parts["directory"]], [200, true, {
        ok: false,
        detail: "the status list is 400 s old and could not be renewed; " +
          "key sets are up to 400 s old and could not be renewed",
      }]);
      world.network = (request) => world.directory.fetch(request);
      world.now += 30_000;
      assertEquals(await tokenStatus(world), 200);
      assertEquals(await readiness(world), { status: 200, body: well });
    });
  }
});

Deno.test("GET health/ready does not complain about participants who are merely silent, nor for ever [A9]", async () => {
  await using world = await openWorld();
  world.now += 100_000_000; // every copy is old, none was asked for
  assertEquals((await readiness(world)).body.parts["directory"], { ok: true });
  world.network = FAILURES["status 500"]?.() ?? world.network;
  assertEquals(await tokenStatus(world), 503);
  assertEquals((await readiness(world)).body.parts["directory"]?.ok, false);
  world.now += 900_000; // nobody has asked since, and nothing is known
  assertEquals((await readiness(world)).body.parts["directory"], { ok: true });
});
