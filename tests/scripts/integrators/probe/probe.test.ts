/** `deno task probe` against a running sandbox. */
import { assertEquals, assertMatch } from "@std/assert";
import { codeOfBank, probeOnce, registerIn } from "../../../../scripts/integrators/probe/probe.ts";
import { countRun, openProbeMetrics } from "../../../../scripts/integrators/probe/probe_metrics.ts";
import { examine } from "../../../../scripts/integrators/doctor/doctor.ts";
import type { Patient } from "../../../../scripts/integrators/doctor/examination.ts";
import { openIntegratorsSandbox } from "support/outsiders.ts";

const FIRST = ["folder", "TLS", "certificate", "statement", "registration", "assertion", "proof"];
const PAYMENT = [...FIRST, "payload_signature", "PAR", "redirect", "back_channel"];

Deno.test("the probe pays from outside and says in metrics which step took how long, and which one fails [O2]", async (t) => {
  await using sandbox = await openIntegratorsSandbox();
  const { dir } = sandbox;
  const metrics = openProbeMetrics();
  const paid = async (patient: Patient, mostMs?: number): Promise<[steps: string[], fault: string]> => {
    const run = await probeOnce(patient, mostMs);
    countRun(metrics, run);
    return [run.steps.map(({ step }) => step), run.fault ?? "none"];
  };
  await t.step("at a bank of the sandbox, as it is", async () => {
    assertEquals(await paid({ dir, name: "shop", bank: "BANKA" }), [[...PAYMENT, "order_push"], "none"]);
  });
  await t.step("at a bank that the probe plays itself, without a listener", async () => {
    const bankDetails = { org_id: "PROBE", payment_orders_uri: undefined };
    await sandbox.onboard("probe-bank", "ASPSP", {}, bankDetails);
    await sandbox.onboard("probe", "PISP");
    assertEquals(await codeOfBank(dir, "probe-bank"), "PROBE");
    assertMatch(await registerIn(dir, "probe-bank", "ASPSP"), /is registered as/);
    assertMatch(await registerIn(dir, "probe", "PISP"), /is registered as/);
    const patient = { dir, name: "probe", bank: "PROBE", ownBank: "probe-bank" };
    assertEquals(await paid(patient), [[...PAYMENT, "order_pull"], "none"]);
    const words: string[] = [];
    await examine(patient, (_, found) => words.push(found));
    assertMatch(words.at(-1) ?? "", /is AcceptedSettlementCompleted$/); // else it would count as unsettled
    const [steps, fault] = await paid(patient, 0);
    assertEquals([steps, fault], [["time"], "time: The payment has not ended after 0 ms."]);
    await sandbox.participant("set-status", "--name", "probe", "--software", "Inactive", "--reason", "test");
    assertMatch((await paid(patient))[1], /^statement: The software is Inactive/);
  });
  await t.step("the metrics", async () => {
    const text = await metrics.text();
    const valueOf = (series: string): string | undefined =>
      text.split("\n").find((line) => line.startsWith(`${series} `))?.split(" ").at(-1);
    assertEquals(valueOf(`platform_probe_payments_total{bank="PROBE",result="accepted"}`), "1");
    assertEquals(valueOf(`platform_probe_payments_total{bank="PROBE",result="failed"}`), "2");
    assertEquals(valueOf(`platform_probe_working{bank="PROBE"}`), "0");
    assertEquals(valueOf(`platform_probe_working{bank="BANKA"}`), "1");
    const [run, success] = ["run", "success"].map((kind) =>
      Number(valueOf(`platform_probe_last_${kind}_timestamp_seconds{bank="PROBE"}`))
    );
    assertEquals(Number(success) < Number(run), true, text);
    assertMatch(text, /platform_probe_step_seconds\{bank="PROBE",step="statement"\} \d/);
  });
});
