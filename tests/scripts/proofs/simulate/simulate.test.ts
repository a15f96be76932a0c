/** The simulation: the same seed is the same run, every seed that ever failed holds, and a run can be repeated in parts. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { UsageError } from "../../../../scripts/command_line/run.ts";
import { readSimulateOptions } from "../../../../scripts/proofs/simulate/options.ts";
import { planRun, without } from "../../../../scripts/proofs/simulate/plan.ts";
import { runSeeds, withSimulation } from "../../../../scripts/proofs/simulate/simulate.ts";
import failedSeeds from "./failed_seeds.json" with { type: "json" };

const MAIN = new URL("../../../../scripts/proofs/simulate/main.ts", import.meta.url).pathname;

Deno.test("simulate runs a seed in the same way every time, whatever has run before", async () => {
  const hashes = (seeds: readonly number[]): Promise<readonly string[]> =>
    withSimulation(async (run) => {
      const found: string[] = [];
      for (const seed of seeds) found.push((await run(planRun(seed))).hash);
      return found;
    });
  const [first = "", second = "", third = ""] = await hashes([101, 102, 103]);
  assertEquals(await hashes([103, 101, 101, 102]), [third, first, first, second]);
  assertEquals(new Set([first, second, third]).size, 3);
});

Deno.test("simulate runs a seed with RSA and AES-GCM as with what stands for them", async () => {
  const { steps, hash } = await withSimulation((run) => run(planRun(101)));
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-check",
      "--no-prompt",
      "--allow-read",
      "--allow-env",
      MAIN,
      "--seed",
      "101",
      "--crypto",
      "real",
    ],
    stderr: "inherit",
  }).output();
  const last = new TextDecoder().decode(stdout).trimEnd().split("\n").at(-1);
  assertEquals(last, `seed 101: ${steps} steps, hash ${hash}, real cryptography`);
});

Deno.test("simulate holds for every seed that has ever failed, and keeps nothing of a run that has ended", async () => {
  await runSeeds([101]);
  const before = await usedBytes();
  const { failure } = await runSeeds(failedSeeds);
  assertEquals(failure?.result.violations, undefined, `seed ${failure?.seed}`);
  const kept = (await usedBytes() - before) / failedSeeds.length;
  assert(kept < 600_000, `${kept} bytes a run`);
});

/** Bytes of the heap that are in use after a garbage collection. */
async function usedBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  await new Promise((resolve) => setTimeout(resolve, 1)); // the last run's promises
  runInNewContext("gc")();
  return Deno.memoryUsage().heapUsed;
}

Deno.test("simulate leaves payments and faults out by their names", () => {
  const whole = Array.from({ length: 50 }, (_, seed) => planRun(seed)).find(({ faults }) =>
    faults.length > 2
  );
  if (whole === undefined) throw new Error("no run has three faults");
  const part = without(whole, new Set(["f1"]));
  assertEquals(part.faults.map(({ name }) => name).includes("f1"), false);
  assertEquals(part.faults.length, whole.faults.length - 1);
  assertEquals(part.payments, whole.payments);
});

Deno.test("simulate takes its options, and rejects what is none", () => {
  const options = readSimulateOptions(["--seeds", "5", "--first", "7", "--seconds", "9"]);
  assertEquals(options, { seeds: 5, first: 7, seconds: 9, hasRealCrypto: false });
  assertEquals(readSimulateOptions(["--seed", "3", "--without", "p1,f0"]).only, {
    seed: 3,
    without: ["p1", "f0"],
  });
  for (
    const wrong of [["--seeds"], ["--seeds", "many"], ["--without", "p1"], ["--sed", "1"], [
      "--crypto",
      "none",
    ]]
  ) {
    assertThrows(() => readSimulateOptions(wrong), UsageError);
  }
});
