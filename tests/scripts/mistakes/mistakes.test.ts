/** Every mistake of a developer can be mended from its answer alone. */
import { assert, assertEquals } from "@std/assert";
import { AREAS } from "../../../scripts/mistakes/areas.ts";
import type { Area } from "../../../scripts/mistakes/mistake.ts";
import { isEnough, makeMistakes, scoreText } from "../../../scripts/mistakes/run.ts";
import { openWorkbench } from "../../../scripts/mistakes/workbench.ts";
import { openEnvironment } from "testing/environment.ts";

Deno.test("answers to the mistakes of developers name the faulty part and the expected value [G8] [EB6]", async () => {
  await using env = await openEnvironment();
  const score = await makeMistakes(openWorkbench(env), AREAS);
  assert(score.made >= 97, `${score.made} mistakes`);
  assertEquals(score.misses, [], scoreText(score));
});

Deno.test("an answer with general words is a miss, and too many misses are not enough", async () => {
  await using env = await openEnvironment();
  // With the signing certificate no caller is proven.
  const unproven = { ...env, tpp: { ...env.tpp, transport: env.tpp.signing } };
  const score = await makeMistakes(openWorkbench(unproven), AREAS.slice(0, 1));
  assert(score.misses.length > score.made / 2, scoreText(score));
  assertEquals(isEnough(score), false);
  assertEquals(isEnough({ made: 100, misses: score.misses.slice(0, 5) }), true);
  assertEquals(isEnough({ made: 100, misses: score.misses.slice(0, 6) }), false);
});

Deno.test("a mistake that is accepted proves nothing, and stops the run", async () => {
  await using env = await openEnvironment();
  const mistakes = [{
    name: "none",
    part: "",
    expected: "",
    make: () => Promise.resolve(new Response(null, { status: 200 })),
  }];
  const none: Area = { name: "none", role: "TPP", mistakes };
  const outcome = await makeMistakes(openWorkbench(env), [none]).catch((error) => error.message);
  assertEquals(outcome, "none: the mistake was accepted with status 200");
});
