/** Every mistake of a developer can be mended from its answer or its trace alone. */
import { assert, assertEquals } from "@std/assert";
import { AREAS } from "../../../../scripts/proofs/mistakes/areas.ts";
import type { Area } from "../../../../scripts/proofs/mistakes/mistake.ts";
import { isEnough, makeMistakes, scoreText } from "../../../../scripts/proofs/mistakes/run.ts";
import {
  openSandboxEnvironment,
  type SandboxEnvironment,
} from "../../../../scripts/proofs/mistakes/sandbox.ts";
import { openWorkbench, type Workbench } from "../../../../scripts/proofs/mistakes/workbench.ts";
import { freeSandboxPorts } from "../../../../scripts/command_line/free_ports.ts";
import { decodeEndpoints } from "../../../../src/sandbox/shop/sandbox_endpoints.ts";
import { startPooledEcosystem } from "support/pooled_ecosystem.ts";

/** A running sandbox, and its participants in the hands of a developer. */
async function openBench(): Promise<AsyncDisposable & { env: SandboxEnvironment; bench: Workbench }> {
  const dir = await Deno.makeTempDir({ prefix: "mistakes-" });
  const running = await startPooledEcosystem({ port: freeSandboxPorts(), dir });
  const close = (): Promise<void> => Promise.resolve();
  const endpoints = decodeEndpoints(running.endpoints);
  const env = await openSandboxEnvironment({ dir, endpoints, startedHere: true, now: Date.now, close });
  return {
    env,
    bench: openWorkbench(env, env.armBank),
    async [Symbol.asyncDispose]() {
      env[Symbol.dispose]();
      await running.stop();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

Deno.test("answers to the mistakes of TPPs and banks name the faulty part and the expected value [G8] [EB6] [TRC5]", async (t) => {
  await using sandbox = await openBench();
  const { env, bench } = sandbox;
  const counts = new Map<string, number>();
  for (const area of AREAS) {
    await t.step(`${area.role}: ${area.name}`, async () => {
      const score = await makeMistakes(bench, [area]);
      assertEquals(score.misses, [], scoreText(score));
      counts.set(area.role, (counts.get(area.role) ?? 0) + score.made);
    });
  }
  await t.step("there are enough mistakes of both", () => {
    assert((counts.get("TPP") ?? 0) >= 97, `${counts.get("TPP")} mistakes of TPPs`);
    assert((counts.get("bank") ?? 0) >= 97, `${counts.get("bank")} mistakes of banks`);
  });
  await t.step("an answer with general words is a miss, and too many misses are not enough", async () => {
    // With the signing certificate no caller is proven, so the assertion's key is not its transport key.
    const unproven = { ...env, now: env.now, tpp: { ...env.tpp, clientId: env.bankA.clientId } };
    const score = await makeMistakes(openWorkbench(unproven, env.armBank), AREAS.slice(0, 1));
    assert(score.misses.length > score.made / 2, scoreText(score));
    assertEquals(isEnough(score), false);
    assertEquals(isEnough({ made: 100, misses: score.misses.slice(0, 5) }), true);
    assertEquals(isEnough({ made: 100, misses: score.misses.slice(0, 6) }), false);
  });
  await t.step("a mistake that is accepted proves nothing, and stops the run", async () => {
    const mistakes = [{
      name: "none",
      part: "",
      expected: "",
      make: () => Promise.resolve(new Response(null, { status: 200 })),
    }];
    const none: Area = { name: "none", role: "TPP", mistakes };
    const outcome = await makeMistakes(bench, [none]).catch((error) => error.message);
    assertEquals(outcome, "none: the mistake was accepted with status 200");
  });
});
