/** The Alertmanager configuration of the documentation, on Debian's Alertmanager: one fault is one message. */
import { assert, assertEquals } from "@std/assert";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { RULES } from "support/prometheus.ts";
import { areInstalled } from "testing/installed.ts";
import { waitUntil } from "testing/waiting.ts";

const CONFIGURATION = new URL("../../docs/operations/alertmanager/alertmanager.yml", import.meta.url);
const PROGRAM = "/usr/bin/prometheus-alertmanager";
/** It ends by itself if the test is killed. */
const LIFETIME_SECONDS = 120;
const PROCESSES = ["a:1", "b:1"];
const JOBS = Array.from({ length: 23 }, (_, job) => `job-${job}`);

type Labels = Readonly<Record<string, string>>;

interface Message {
  readonly receiver: string;
  readonly alerts: readonly { readonly labels: Labels }[];
}

function isAlertmanagerThere(): boolean {
  if (areInstalled(PROGRAM)) return true;
  const words =
    "SKIPPED, NOT TESTED: Alertmanager's configuration. Install Debian's package prometheus-alertmanager.\n";
  Deno.stderr.writeSync(new TextEncoder().encode(words));
  return false;
}

interface Alertmanager extends AsyncDisposable {
  /** The alerts fire. */
  fire(alerts: readonly Labels[]): Promise<void>;
  /** Resolves with all messages once one has come for each of these alerts. */
  messages(names: readonly string[]): Promise<readonly Message[]>;
}

/** Starts Alertmanager with the documented file, but a short wait and receivers that the test reads. */
async function openAlertmanager(): Promise<Alertmanager> {
  const received: Message[] = [];
  const arrived = new EventTarget();
  const receiver = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    received.push(await request.json() as Message);
    arrived.dispatchEvent(new Event("message"));
    return new Response();
  });
  const folder = await Deno.makeTempDir({ prefix: "alertmanager-" });
  const text = (await Deno.readTextFile(CONFIGURATION)).replace("group_wait: 20s", "group_wait: 1s")
    .replaceAll("127.0.0.1:9095", `127.0.0.1:${receiver.addr.port}`);
  await Deno.writeTextFile(`${folder}/alertmanager.yml`, text);
  const port = freePort();
  const child = new Deno.Command("timeout", {
    args: [
      String(LIFETIME_SECONDS),
      PROGRAM,
      `--config.file=${folder}/alertmanager.yml`,
      `--storage.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--cluster.listen-address=",
      "--log.level=error",
    ],
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  const api = `http://127.0.0.1:${port}/api/v2/alerts`;
  await waitUntil("Alertmanager answers", async () => {
    const answer = await fetch(api).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.ok === true;
  });
  return {
    async fire(alerts) {
      const body = JSON.stringify(alerts.map((labels) => ({ labels })));
      const answer = await fetch(api, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      assertEquals([answer.status, await answer.text()], [200, ""]);
    },
    async messages(names) {
      const isTold = (name: string): boolean =>
        received.some(({ alerts }) => alerts.some(({ labels }) => labels["alertname"] === name));
      while (!names.every(isTold)) {
        await new Promise((resolve) => arrived.addEventListener("message", resolve, { once: true }));
      }
      return received;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await receiver.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("every alert that the configuration names exists", async () => {
  const rules = await Deno.readTextFile(RULES);
  const known = new Set([...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name));
  const text = await Deno.readTextFile(CONFIGURATION);
  const named = [...text.matchAll(/alertname=~?"([\w|]+)"/g)].flatMap(([, names = ""]) => names.split("|"));
  assert(named.length > 10);
  assertEquals(named.filter((name) => !known.has(name)), []);
});

Deno.test({
  name: "an outage of the database on two processes is one message, and a failing bank hides no other bank",
  ignore: !isAlertmanagerThere(),
  async fn() {
    await using alertmanager = await openAlertmanager();
    const outage: Labels[] = PROCESSES.flatMap((instance) => [
      { alertname: "StoreFailing", severity: "critical", instance },
      { alertname: "RequestsFailing", severity: "critical", instance },
      ...JOBS.map((work) => ({ alertname: "BackgroundWorkFailing", severity: "warning", instance, work })),
    ]);
    await alertmanager.fire(outage);
    await alertmanager.messages(["StoreFailing"]);
    await alertmanager.fire([
      { alertname: "BreakerOpen", severity: "warning", bank: "BANKA" },
      { alertname: "BankUnreachable", severity: "warning", bank: "BANKA" },
      { alertname: "OrdersDead", severity: "critical", bank: "BANKB" },
      { alertname: "OrdersDead", severity: "critical", bank: "BANKC" },
    ]);
    const messages = await alertmanager.messages(["BreakerOpen", "OrdersDead"]);
    const told = messages.flatMap(({ receiver, alerts }) =>
      alerts.map(({ labels }) => `${receiver} ${labels["alertname"]} ${labels["bank"] ?? labels["instance"]}`)
    );
    const outageTold = told.filter((line) => !/ BANK[ABC]$/.test(line));
    assertEquals(outageTold.toSorted(), ["on-call StoreFailing a:1", "on-call StoreFailing b:1"]);
    assertEquals(
      messages.filter(({ alerts }) => alerts.some(({ labels }) => "instance" in labels)).length,
      1,
    );
    assert(told.includes("desk BreakerOpen BANKA"));
    assert(!told.some((line) => line.includes("BankUnreachable")), "it follows from the open breaker");
  },
});
