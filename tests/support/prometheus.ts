/** Debian's Prometheus on loopback, in a folder of its own, with the alert rules of the documentation. */
import { present } from "testing/answers.ts";
import { areInstalled } from "testing/installed.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { waitUntil } from "testing/waiting.ts";

export const RULES = new URL("../../docs/operations/prometheus/rules.yml", import.meta.url);
const PROGRAM = "/usr/bin/prometheus";
/** It ends by itself if the test is killed. */
const LIFETIME_SECONDS = 180;

/** An alert as the HTTP API of Prometheus lists it. */
export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
}

export interface Prometheus extends AsyncDisposable {
  alerts(): Promise<readonly Alert[]>;
  /** Resolves when the alert fires. */
  firing(name: string, withinSeconds: number): Promise<Alert>;
  /** Resolves when the alert is no longer listed. */
  ended(name: string, withinSeconds: number): Promise<void>;
}

/** Whether Prometheus is installed; says loudly if not. */
export function hasPrometheus(): boolean {
  if (areInstalled(PROGRAM)) return true;
  const words = "SKIPPED, NOT TESTED: alert rules on Prometheus. Install Debian's package prometheus.\n";
  Deno.stderr.writeSync(new TextEncoder().encode(words));
  return false;
}

/** The rules with shorter waits, because a test cannot wait for minutes. */
export function hastened(rules: string): string {
  return rules.replaceAll(/for: \d+[ms]\b/g, "for: 1s").replace("_age_seconds) > 300", "_age_seconds) > 3")
    .replace("_age_seconds) > 120", "_age_seconds) > 1");
}

/** Fires as soon as a rate can be measured, because a fault before that would not count. */
const UNDER_WATCH = `  - name: test
    rules:
      - alert: UnderWatch
        expr: count_over_time(up{job="platform"}[1m]) > 1
`;

function configuration(target: string, token: string, folder: string): string {
  return JSON.stringify({ // JSON is YAML
    global: { scrape_interval: "500ms", scrape_timeout: "500ms", evaluation_interval: "500ms" },
    rule_files: [`${folder}/rules.yml`],
    scrape_configs: [{
      job_name: "platform",
      metrics_path: "/operations/metrics",
      authorization: { credentials: token },
      static_configs: [{ targets: [target] }],
    }],
  });
}

/** Starts Prometheus. It scrapes the target twice a second. */
export async function startPrometheus(target: string, token: string): Promise<Prometheus> {
  const folder = await Deno.makeTempDir({ prefix: "prometheus-" });
  await Deno.writeTextFile(`${folder}/rules.yml`, hastened(await Deno.readTextFile(RULES)) + UNDER_WATCH);
  await Deno.writeTextFile(`${folder}/prometheus.yml`, configuration(target, token, folder));
  const port = freePort();
  const child = new Deno.Command("timeout", {
    args: [
      String(LIFETIME_SECONDS),
      PROGRAM,
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  const alerts = async (): Promise<readonly Alert[]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`);
    const { data } = await answer.json() as { readonly data?: { readonly alerts: readonly Alert[] } };
    return data?.alerts ?? [];
  };
  await waitFor(alerts, "UnderWatch", 20);
  return {
    alerts,
    firing: (name, withinSeconds) => waitFor(alerts, name, withinSeconds),
    ended: (name, withinSeconds) => waitForEnd(alerts, name, withinSeconds),
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function waitFor(alerts: Prometheus["alerts"], name: string, withinSeconds: number): Promise<Alert> {
  let found: Alert | undefined;
  await waitUntil(`${name} fires`, async () => {
    const listed = await alerts().catch(() => []); // it may not listen yet
    found = listed.find(({ labels, state }) => labels["alertname"] === name && state === "firing");
    return found !== undefined;
  }, { seconds: withinSeconds });
  return present(found);
}

async function waitForEnd(alerts: Prometheus["alerts"], name: string, withinSeconds: number): Promise<void> {
  const isOver = async (): Promise<boolean> =>
    !(await alerts()).some(({ labels }) => labels["alertname"] === name);
  await waitUntil(`${name} ends`, isOver, { seconds: withinSeconds });
}
