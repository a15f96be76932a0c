/** Faults planted into the platform: the simulation finds each of them, shrinks it and says how to repeat it. */
import { assertEquals, assertMatch } from "@std/assert";
import { PLANTS, seedsToTry, writePlant } from "support/simulate_plants.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const MAIN = new URL("../../../../scripts/proofs/simulate/main.ts", import.meta.url).pathname;

for (const plant of PLANTS) {
  Deno.test(`simulate finds ${plant.name}`, async () => {
    await using folder = await openTemporaryFolder();
    const config = await writePlant(folder.path, plant);
    let found = { code: 0, text: "" };
    for (const { first, seeds } of seedsToTry(plant)) {
      found = await simulate(["--first", String(first), "--seeds", String(seeds)], config);
      if (found.code !== 0) break;
    }
    const { code, text } = found;
    assertEquals(code, 1, text.slice(-2000));
    assertMatch(text, plant.breaks);
    assertMatch(text, /Repeat it: deno task simulate --seed \d+/);
  });
}

async function simulate(
  options: readonly string[],
  config: string,
): Promise<{ readonly code: number; readonly text: string }> {
  const permissions = ["--no-prompt", "--allow-read", "--allow-env"];
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", ...permissions, "--config", config, MAIN, ...options],
    stderr: "inherit",
  }).output();
  return { code, text: new TextDecoder().decode(stdout) };
}
