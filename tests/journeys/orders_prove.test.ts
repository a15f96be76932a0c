/** The prover on a few payments: it passes the real thing and catches a store without atomic commits [D1, C7]. */
import { assert, assertEquals } from "@std/assert";
import { prove } from "../../scripts/prove/main.ts";
import { planKills, planPayment } from "../../scripts/prove/plan.ts";
import { UsageError } from "../../scripts/command_line/run.ts";
import { readProveOptions } from "../../scripts/prove/options.ts";
import { writeSplitCommitsConfig } from "support/split_commits_config.ts";

function brokenIn(results: Awaited<ReturnType<typeof prove>>): readonly string[] {
  return results.filter(({ violations }) => violations.length > 0).map(({ name }) => name);
}

Deno.test("prove passes: kills, duplicates and dropped answers break nothing [D1, C7]", async () => {
  const lines: string[] = [];
  const results = await prove({ payments: 10, kills: 1, seed: 11 }, (line) => void lines.push(line));
  assertEquals(brokenIn(results), []);
  assert(results.every(({ judged }) => judged > 0), "a check had nothing to judge");
  assertEquals(lines[0], "seed 11: 10 payments, 8 at a time, 1 kills");
  assertEquals(lines.filter((line) => line.startsWith("kill -9, ")).length, 1);
  assertEquals(lines.at(-1), "Everything held.");
});

Deno.test("prove fails where a commit is not atomic [D1, C7]", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const lines: string[] = [];
    const config = await writeSplitCommitsConfig(folder);
    const results = await prove(
      { payments: 10, kills: 0, seed: 11 },
      (line) => void lines.push(line),
      config,
    );
    assert(brokenIn(results).includes("a consent has at most one payment"), lines.join("\n"));
    assert(lines.some((line) => /^VIOLATION consent [0-9a-f-]{36} has \d payments$/.test(line)));
    assertEquals(lines.at(-1), "Something did not hold.");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("prove decides everything by its seed", () => {
  for (let index = 0; index < 50; index++) {
    assertEquals(planPayment(3, index), planPayment(3, index));
    assert(JSON.stringify(planPayment(3, index)) !== JSON.stringify(planPayment(4, index)));
  }
  assertEquals(planKills(3, 100, 5), planKills(3, 100, 5));
  assertEquals(new Set(planKills(3, 100, 5).map(({ index }) => index)).size, 5);
  assertEquals(planKills(3, 2, 9).length, 2); // no more than one a payment
});

Deno.test("prove takes its options, and rejects what is none", () => {
  assertEquals(readProveOptions(["--payments", "300", "--kills", "6", "--seed", "1"]), {
    payments: 300,
    kills: 6,
    seed: 1,
  });
  assertEquals(readProveOptions(["--help"]), undefined);
  const byDefault = readProveOptions([]);
  assertEquals([byDefault?.payments, byDefault?.kills], [100, 3]);
  for (const wrong of [["--payments"], ["--payments", "0"], ["--kills", "-1"], ["--seeds", "1"], ["3"]]) {
    try {
      readProveOptions(wrong);
      assert(false, wrong.join(" "));
    } catch (error) {
      assert(error instanceof UsageError, wrong.join(" "));
    }
  }
});
