/** The prover on a few payments: it passes the real thing and catches a store without atomic commits [D1, C7]. */
import { assert, assertEquals } from "@std/assert";
import { prove } from "../../scripts/proofs/prove/main.ts";
import { planKills, planPayment } from "../../scripts/proofs/prove/plan.ts";
import { isHaproxyThere } from "../../scripts/proofs/prove/load_balancer.ts";
import { postgresPrograms } from "testing/postgres_node.ts";
import { taskCommand } from "testing/served_platform.ts";
import { UsageError } from "../../scripts/command_line/run.ts";
import { readProveOptions } from "../../scripts/proofs/prove/options.ts";
import { writeReplacing } from "support/replaced_module.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

/** The cluster needs both programs. */
function isProgramMissing(): boolean {
  if (postgresPrograms() !== undefined && isHaproxyThere()) return false;
  const words = "\n*** SKIPPED: the prover ran on no cluster, PostgreSQL 15 or HAProxy is missing ***\n\n";
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return true;
}

function brokenIn(results: Awaited<ReturnType<typeof prove>>): readonly string[] {
  return results.filter(({ violations }) => violations.length > 0).map(({ name }) => name);
}

const KV = { store: "kv", processes: 3, keys: "file", pooler: "none", failover: "prover", kill: "" } as const;

Deno.test("prove passes: kills, duplicates and dropped answers break nothing [D1, C7]", async () => {
  const lines: string[] = [];
  const results = await prove({ ...KV, payments: 10, kills: 1, seed: 11 }, (line) => void lines.push(line));
  assertEquals(brokenIn(results), []);
  assert(results.every(({ judged }) => judged > 0), "a check had nothing to judge");
  assertEquals(lines[0], "seed 11: 10 payments, 8 at a time, 1 kills");
  assertEquals(lines.filter((line) => line.startsWith("kill -9 of sandbox, ")).length, 1);
  assertEquals(lines.at(-1), "Everything held.");
});

Deno.test({
  name:
    "prove passes on PostgreSQL: three processes, a primary and the banks are killed, and nothing breaks [D1, C7, FUN2]",
  ignore: isProgramMissing(),
  async fn() {
    const lines: string[] = [];
    const options = { ...KV, store: "postgres", payments: 10, kills: 3, seed: 10 } as const;
    const results = await prove(options, (line) => void lines.push(line));
    assertEquals(brokenIn(results), [], lines.join("\n"));
    const killed = lines.flatMap((line) => /^kill -9 of (\w+)/.exec(line)?.[1] ?? []);
    assertEquals(new Set(killed), new Set(["platform", "database", "banks"]));
  },
});

Deno.test("prove fails where a commit is not atomic [D1, C7]", async () => {
  await using folder = await openTemporaryFolder();
  const lines: string[] = [];
  const kv = new URL("../../src/base/store/deno_kv.ts", import.meta.url);
  const split = new URL("../support/split_commits.ts", import.meta.url);
  const config = await writeReplacing(folder.path, kv, split);
  const results = await prove(
    { ...KV, payments: 10, kills: 0, seed: 11 },
    (line) => void lines.push(line),
    config,
  );
  assert(brokenIn(results).includes("a consent has at most one payment"), lines.join("\n"));
  assert(lines.some((line) => /^VIOLATION consent [0-9a-f-]{36} has \d payments$/.test(line)));
  assertEquals(lines.at(-1), "Something did not hold.");
});

Deno.test("prove that is ended by SIGTERM ends the sandbox that it has started, and leaves no file", async () => {
  await using folder = await openTemporaryFolder();
  const [program = "", ...args] = await taskCommand("prove");
  const proof = new Deno.Command(program, {
    args: [...args, "--payments", "1", "--kills", "0"],
    env: { TMPDIR: folder.path },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = proof.stdout.getReader();
  await output.read(); // the seed: the sandbox starts next
  output.releaseLock();
  proof.kill("SIGTERM");
  const { code, stderr } = await proof.output();
  assertEquals([code, new TextDecoder().decode(stderr)], [1, "SIGTERM: the proof has not ended\n"]);
  assertEquals([...Deno.readDirSync(folder.path)], []);
  assertEquals(await startedIn(folder.path), "");
});

/** Ids of processes that have this folder in their environment. */
async function startedIn(folder: string): Promise<string> {
  const script = 'grep -lsF "SANDBOX_DIR=$1" /proc/[0-9]*/environ || true';
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script, "sh", folder] }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test("prove decides everything by its seed", () => {
  for (let index = 0; index < 50; index++) {
    assertEquals(planPayment(3, index), planPayment(3, index));
    assert(JSON.stringify(planPayment(3, index)) !== JSON.stringify(planPayment(4, index)));
  }
  assertEquals(planKills(3, 100, 5, ["one", "other"]), planKills(3, 100, 5, ["one", "other"]));
  assertEquals(new Set(planKills(3, 100, 5, ["one", "other"]).map(({ index }) => index)).size, 5);
  assertEquals(planKills(3, 2, 9, ["one", "other"]).length, 2); // no more than one a payment
});

Deno.test("prove takes its options, and rejects what is none", () => {
  assertEquals(readProveOptions(["--payments", "300", "--kills", "6", "--seed", "1"]), {
    payments: 300,
    kills: 6,
    seed: 1,
    ...KV,
  });
  const byDefault = readProveOptions([]);
  assertEquals([byDefault?.payments, byDefault?.kills], [100, 3]);
  for (
    const wrong of [
      ["--payments"],
      ["--payments", "0"],
      ["--kills", "-1"],
      ["--seeds", "1"],
      ["3"],
      ["--store", "file"],
      ["--kill", "banks"],
      ["--failover", "patroni"],
      ["--store", "postgres", "--pooler", "pgbouncer"],
      ["--store", "postgres", "--processes", "0"],
    ]
  ) {
    try {
      readProveOptions(wrong);
      assert(false, wrong.join(" "));
    } catch (error) {
      assert(error instanceof UsageError, wrong.join(" "));
    }
  }
});
