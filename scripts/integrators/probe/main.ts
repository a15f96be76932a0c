/** `deno task probe`: a payment every minute from outside, as a TPP makes it, with metrics for Prometheus. */
import { durationSeconds } from "../../command_line/option_values.ts";
import { optionsOf, runProgram, UsageError } from "../../command_line/run.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import type { Patient } from "../doctor/examination.ts";
import { codeOfBank, probeOnce, registerIn } from "./probe.ts";
import { countRun, openProbeMetrics, type ProbeRun } from "./probe_metrics.ts";

const USAGE =
  `Makes a payment of one cent every minute as a TPP outside of the platform, through every layer from TLS
to the bank's answer, until Ctrl-C. Prints a line for each, and writes metrics for Prometheus.

Usage: deno task probe [options]

  --name FOLDER      the TPP: folder below participants/ of SANDBOX_DIR (default .data/sandbox), where endpoints.json
                     and ca.pem are too; default shop, the TPP of a sandbox
  --own-bank FOLDER  the bank that the probe plays itself: a participant that fetches its orders and has the consent
                     screen (consent_managedby_bank). The probe registers it and the TPP
  --bank CODE        instead, in a sandbox: one of its banks; default BANKA
  --every TIME       such as 60s or 5m; default 60s
  --metrics FILE     where to write the metrics, for the textfile collector of the Prometheus node exporter (*.prom)
  --once             one payment; the exit status is 1 if it failed`;

const SHORTEST_S = 10;

await runProgram(USAGE, async (args, print) => {
  const { name = "shop", bank = "BANKA", ...given } = optionsOf(
    args,
    ["name", "bank", "own-bank", "every", "metrics"],
    ["once"],
  );
  const everySeconds = durationSeconds(given.every ?? "60s");
  if (everySeconds === undefined || everySeconds < SHORTEST_S) {
    throw new UsageError(`--every must be a time of at least ${SHORTEST_S}s, such as 60s or 5m`);
  }
  const patient = await patientOf(name, bank, given["own-bank"], print);
  const metrics = openProbeMetrics();
  for (;;) {
    const began = Date.now();
    const run = await probeOnce(patient);
    print(lineOf(run));
    countRun(metrics, run);
    if (given.metrics !== undefined) await replaceFile(given.metrics, await metrics.text());
    if (given.once === true) return run.fault === undefined;
    await new Promise((done) => setTimeout(done, Math.max(0, began + everySeconds * 1000 - Date.now())));
  }
});

async function patientOf(
  name: string,
  bank: string,
  ownBank: string | undefined,
  print: (line: string) => void,
): Promise<Patient> {
  const dir = sandboxFolder(Deno.env.toObject());
  if (ownBank === undefined) return { dir, name, bank };
  const code = await codeOfBank(dir, ownBank);
  print(await registerIn(dir, ownBank, "ASPSP"));
  print(await registerIn(dir, name, "PISP"));
  return { dir, name, bank: code, ownBank };
}

function lineOf({ bank, steps, fault, at }: ProbeRun): string {
  const seconds = steps.reduce((sum, step) => sum + step.seconds, 0);
  const result = fault === undefined ? "accepted" : `FAILED  ${fault}`;
  return `${new Date(at).toISOString().slice(0, 19)}Z  ${bank}  ${seconds.toFixed(2)} s  ${result}`;
}

/** A collector reads the old file or the new one, never a part. */
async function replaceFile(file: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${file}.new`, text, { mode: 0o644 });
  await Deno.rename(`${file}.new`, file);
}
