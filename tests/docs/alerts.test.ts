/** The alert rules and dashboards name metrics that exist, and each alert has a runbook. */
import { assert, assertEquals } from "@std/assert";
import { PROBE_METRICS } from "../../scripts/integrators/probe/probe_metrics.ts";
import { PLATFORM_METRICS } from "../../src/platform/observed/metrics.ts";
import { hasPrometheus } from "support/prometheus.ts";
import { openEnvironment } from "testing/environment.ts";

const OPERATIONS = new URL("../../docs/operations/", import.meta.url).pathname;
const rules = await Deno.readTextFile(`${OPERATIONS}prometheus/rules.yml`);

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(`${OPERATIONS}${folder}`)].map(({ name }) => name).toSorted();
}

Deno.test("each alert has a runbook with its name, and each runbook an alert", async () => {
  const alerts = [...rules.matchAll(/- alert: (\w+)[\s\S]*?runbook_url: docs\/operations\/runbooks\/(\S+)/g)];
  assertEquals(alerts.length, rules.match(/- alert:/g)?.length);
  const list = await Deno.readTextFile(`${OPERATIONS}runbooks/README.md`);
  for (const [, alert, page = ""] of alerts) {
    const text = await Deno.readTextFile(`${OPERATIONS}runbooks/${page}`);
    const titles = text.match(/^##? .*$/gm);
    assertEquals(titles, [
      `# ${alert}`,
      "## Symptom",
      "## What it means for payers",
      "## Confirm",
      "## What to do",
      "## When to escalate",
    ]);
    assert(new RegExp(`\\| ${alert} +\\| \\[${page}\\]`).test(list), `runbooks/README.md lacks ${alert}`);
  }
  const pages = alerts.map(([, , page]) => page).toSorted();
  assertEquals(namesIn("runbooks").filter((name) => name !== "README.md"), pages);
});

Deno.test("the runbook of failing background work says of each job what its failure means", async () => {
  await using env = await openEnvironment();
  const metrics = await (await env.asOperator("/operations/metrics")).text();
  const jobs = [...metrics.matchAll(/^platform_background_passes_total\{.*?work="(\w+)"/gm)].map(([, job]) =>
    job
  );
  assert(jobs.length > 20, metrics);
  const page = await Deno.readTextFile(`${OPERATIONS}runbooks/background-work-failing.md`);
  const described = [...page.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, names = ""]) =>
    names.match(/\w+/g) ?? []
  );
  assertEquals(described.toSorted(), [...new Set([...jobs, "sendSpans", "noteProcess"])].toSorted());
});

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

Deno.test("rules and dashboards name declared metrics, and every dashboard is JSON with panels", async () => {
  const used = new Set(rules.match(/platform_\w+/g));
  for (const name of namesIn("grafana")) {
    const { panels } = JSON.parse(await Deno.readTextFile(`${OPERATIONS}grafana/${name}`)) as Dashboard;
    assert(panels.length > 0);
    for (const { targets } of panels) {
      for (const { expr } of targets) expr.match(/platform_\w+/g)?.forEach((metric) => used.add(metric));
    }
  }
  const declared = { ...PLATFORM_METRICS, ...PROBE_METRICS };
  const unknown = [...used].filter((name) => !(name.replace(/_bucket$/, "") in declared));
  assertEquals(unknown, []);
});

Deno.test({
  name: "promtool accepts the rules, and they fire at their thresholds",
  ignore: !hasPrometheus(),
  async fn(t) {
    for (
      const args of [["check", "rules", `${OPERATIONS}prometheus/rules.yml`], [
        "test",
        "rules",
        "alert_rules.yml",
      ]]
    ) {
      await t.step(args.slice(0, 2).join(" "), async () => {
        const cwd = new URL(".", import.meta.url).pathname;
        const { success, stdout, stderr } = await new Deno.Command("promtool", { args, cwd }).output();
        assert(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
      });
    }
  },
});
