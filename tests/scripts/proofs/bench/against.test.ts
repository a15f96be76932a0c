/** `deno task bench --against`: this source beside one of its revisions and `oidc-provider`, each a real process. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { compareSubjects, comparisonReport } from "../../../../scripts/proofs/bench/against.ts";
import { openSubject } from "../../../../scripts/proofs/bench/subjects.ts";
import { STAGES } from "../../../../scripts/proofs/bench/stages.ts";
import { UsageError } from "../../../../scripts/command_line/run.ts";

const { success: isRepository } = await new Deno.Command("sh", { args: ["-c", "git rev-parse HEAD"] })
  .output();

Deno.test({
  name: "bench compares every stage with a revision that it runs beside this source, and counts fsyncs",
  ignore: !isRepository,
  async fn() {
    const options = { against: ["HEAD"], requests: 2, rounds: 1, concurrency: [2], warm: 0 };
    const rows = await compareSubjects(options, { PLATFORM_LOG_LEVEL: "warn" }, () => {});
    assertEquals(rows.length, 2 * (STAGES.length + 1));
    assertEquals(rows.filter(({ failures }) => failures > 0), []);
    assertEquals(new Set(rows.map(({ subject }) => subject)).size, 2);
    for (const { stage, cpu, ratio, written, syncs } of rows) {
      assert(cpu > 0 && ratio > 0 && written >= 0, stage);
      if (syncs !== undefined) assert(syncs > 1 && syncs < 200, `${syncs} fsyncs of a payment`);
    }
    assertEquals(comparisonReport(rows).split("\n").length, 2 + rows.length + 1);
    const left = await Array.fromAsync(Deno.readDir(".data/against"), ({ name }) => name);
    assertEquals(left.filter((name) => name.endsWith(`-${Deno.pid}`)), []);
  },
});

const NODE = ".data/node/node_modules/.bin/node";
const hasNode = await Deno.stat(NODE).then(() => true, () => false);
if (!hasNode) {
  const words = `\n*** SKIPPED: nothing was compared with oidc-provider, ${NODE} is missing ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
}

Deno.test({
  name: "bench compares the token and PAR with oidc-provider, which serves no other stage",
  ignore: !hasNode,
  async fn() {
    const options = { against: [`${NODE}+oidc-provider`], requests: 4, rounds: 1, concurrency: [2], warm: 1 };
    const rows = (await compareSubjects(options, { PLATFORM_LOG_LEVEL: "warn" }, () => {}))
      .filter(({ subject }) => subject === "oidc-provider");
    assertEquals(rows.map(({ stage, failures }) => [stage, failures]), [
      ["token (client credentials)", 0],
      ["PAR", 0],
    ]);
    for (const { stage, cpu, written, syncs } of rows) {
      assert(cpu > 0 && written > 0 && syncs === undefined, stage);
    }
  },
});

Deno.test("bench compares with no revision that is not there, and runs no other command", async () => {
  for (const named of ["0123456789abcdef", "HEAD'; echo '", "--all", "/none"]) {
    await assertRejects(() => openSubject(named), UsageError);
  }
});
