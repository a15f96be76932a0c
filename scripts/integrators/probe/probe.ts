/** One payment of the probe: the doctor's layers from TLS to the bank's answer, each with its duration. */
import { examine } from "../doctor/doctor.ts";
import { describeError } from "../doctor/examination.ts";
import type { Patient } from "../doctor/examination.ts";
import { readDescription } from "../participant/folder.ts";
import { loadParticipant } from "../../../src/client/party/participant.ts";
import { openMutualTls } from "../../../src/client/party/mutual_tls.ts";
import { register, type RegistrationRole } from "../../../src/client/party/register_client.ts";
import { openPlatform } from "../../command_line/platform.ts";
import type { ProbeRun } from "./probe_metrics.ts";

/** A payment that takes longer has failed. */
const MOST_MS = 45_000;

/** The code of the bank in a folder of `participants/`. @throws {Error} if the folder is not a bank's */
export async function codeOfBank(dir: string, name: string): Promise<string> {
  const found = await readDescription(`${dir}/participants/${name}`);
  if (found?.role === "ASPSP") return found.org_id;
  throw new Error(`${dir}/participants/${name} is not the folder of a bank.`);
}

/** Registers the software of a participant. @returns what the platform answered, in words */
export async function registerIn(dir: string, name: string, role: RegistrationRole): Promise<string> {
  const { addresses, caPem } = await openPlatform(dir);
  const participant = await loadParticipant(`${dir}/participants/${name}`);
  const { fetch, close } = openMutualTls(participant.transport, caPem);
  const { base_url: baseUrl, registration_audience: audience } = addresses;
  try {
    const { clientId } = await register({ fetch, baseUrl, audience }, participant, role);
    return `${name} is registered as ${clientId}`;
  } catch (error) { // also if it is registered with this statement
    return `${name}: ${describeError(error)}`;
  } finally {
    close();
  }
}

/** Makes one payment. Never rejects. */
export async function probeOnce(patient: Patient, mostMs: number = MOST_MS): Promise<ProbeRun> {
  const steps: { step: string; seconds: number }[] = [];
  let began = performance.now();
  const note = (step: string): void => {
    const now = performance.now();
    steps.push({ step: step.replaceAll(" ", "_"), seconds: (now - began) / 1000 });
    began = now;
  };
  const timer = Promise.withResolvers<{ readonly layer: string; readonly wrong: string }>();
  const overdue = setTimeout(
    () => timer.resolve({ layer: "time", wrong: `The payment has not ended after ${mostMs} ms.` }),
    mostMs,
  );
  const finding = await Promise.race([examine(patient, note), timer.promise]);
  clearTimeout(overdue);
  const done = [...steps]; // an overdue examination still notes its steps
  if (finding !== undefined) {
    done.push({ step: finding.layer.replaceAll(" ", "_"), seconds: (performance.now() - began) / 1000 });
  }
  const fault = finding === undefined ? undefined : `${finding.layer}: ${finding.wrong}`;
  return { bank: patient.bank, steps: done, fault, at: Date.now() };
}
