/**
 * `deno task doctor`: examines a participant's folder against a platform and a bank, and names the first thing that is
 * wrong with the command that mends it. Exit status 1 if anything is wrong.
 */
import { optionsOf, runProgram, UsageError } from "../../command_line/run.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import { examine } from "./doctor.ts";

const USAGE = `deno task doctor --name <folder> [--bank <code>]

  Tries every layer between a participant and a payment, in order: its folder, TLS, certificate, statement,
  registration, assertion, proof and payload signature; for a TPP then PAR, redirect, back channel and order push with a
  payment of one cent (in a sandbox only); for a bank its redirect, back channel and order push.

  --name   folder below participants/ of SANDBOX_DIR (default .data/sandbox), where endpoints.json and ca.pem are too
  --bank   the bank that a TPP pays at; default BANKA`;

await runProgram(USAGE, async (args, print) => {
  const { name, bank = "BANKA" } = optionsOf(args, ["name", "bank"]);
  if (name === undefined) throw new UsageError(`--name is missing.\n\n${USAGE}`);
  const patient = { dir: sandboxFolder(Deno.env.toObject()), name, bank };
  const finding = await examine(patient, (layer, words) => print(`ok     ${layer.padEnd(18)} ${words}`));
  if (finding === undefined) return print("Every layer is fine.");
  const { layer, wrong, mend } = finding;
  print(`WRONG  ${layer.padEnd(18)} ${wrong}\n\n${mend}`);
  return false;
});
