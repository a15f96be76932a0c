/** Faults planted into the platform: the simulation finds each of them, shrinks it and says how to repeat it. */
import { assertEquals, assertMatch } from "@std/assert";
import { PLANTS, writePlant } from "support/simulate_plants.ts";

const MAIN = new URL("../../../../scripts/proofs/simulate/main.ts", import.meta.url).pathname;

for (const plant of PLANTS) {
  Deno.test(`simulate finds ${plant.name}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const options = ["--first", String(plant.firstSeed), "--seeds", "50"]; // in one thread
      const config = await writePlant(folder, plant);
      const permissions = ["--no-prompt", "--allow-read", "--allow-env"];
      const { code, stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "--no-check", ...permissions, "--config", config, MAIN, ...options],
        stderr: "inherit",
      }).output();
      const text = new TextDecoder().decode(stdout);
      assertEquals(code, 1, text.slice(-2000));
      assertMatch(text, plant.breaks);
      assertMatch(text, /Repeat it: deno task simulate --seed \d+/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
