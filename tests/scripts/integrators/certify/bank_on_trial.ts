/** Copies of `examples/first_bank.ts` as processes on the bench of a certification, one after the other in a lane. */
import { exampleDetails } from "../../../../scripts/integrators/participant/main.ts";
import { type BankBench, openBankBench } from "../../../../scripts/integrators/certify/bank/bench.ts";
import { onboardBank, startBank } from "../../../../scripts/integrators/certify/bank/own_bank.ts";
import {
  openPlatformSide,
  type PlatformSide,
} from "../../../../scripts/integrators/certify/bank/platform_side.ts";
import { freePort, freeSandboxPorts } from "../../../../scripts/command_line/free_ports.ts";
import { packageFolder, pinned, readProject } from "../../../../scripts/upkeep/packages/package_files.ts";
import { canRun, PAYMENT_EXAMPLES, PYTHON } from "support/payment_examples.ts";
import { pooledKeys } from "support/pooled_ecosystem.ts";
import type { BankFault } from "./planted.ts";

const root = new URL("../../../../", import.meta.url).pathname;
const EXAMPLE = `${root}examples/first_bank.ts`;
const KEYS = "jose.createRemoteJWKSet(new URL(`${platform.auth_url}/jwks`))";

/** An onboarded bank, whose program can be exchanged. */
export interface Lane {
  readonly folder: string;
  readonly hookUrl: string;
}

export interface Trial extends AsyncDisposable {
  readonly platform: PlatformSide;
  readonly lanes: readonly [Lane, ...Lane[]];
}

/** An ecosystem with onboarded banks, none of which is started. */
export async function openTrial(lanes: number): Promise<Trial> {
  const dir = await Deno.makeTempDir({ prefix: "bank-trial-" });
  const platform = await openPlatformSide({
    dir,
    port: freeSandboxPorts(),
    makeKeys: pooledKeys(),
    log: () => {},
  });
  const [first, ...others] = await Promise.all(
    Array.from({ length: lanes }, (_, index) => onboarded(platform, `TRIAL${index}`)),
  );
  if (first === undefined) throw new Error("a trial needs a lane");
  return {
    platform,
    lanes: [first, ...others],
    async [Symbol.asyncDispose](): Promise<void> {
      await platform.close();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

async function onboarded(platform: PlatformSide, code: string): Promise<Lane> {
  const home = `http://localhost:${freePort()}`;
  const details = `${platform.dir}/${code}.json`;
  const example = JSON.stringify({ ...exampleDetails("ASPSP"), org_name: code, registration_number: code });
  await Deno.writeTextFile(
    details,
    example.replaceAll("http://localhost:9001", home).replaceAll("BANKC", code),
  );
  const { folder } = await onboardBank(platform, { name: code.toLowerCase(), details, print: () => {} });
  return { folder, hookUrl: `${home}/certification` };
}

/** The example with a fault. @throws {Error} if a text does not occur exactly once */
export async function faultyBank({ name, changes }: Pick<BankFault, "name" | "changes">): Promise<string> {
  // The bank asks for unknown keys at once, so that the cases of changed keys need not wait.
  let text = replaced(await Deno.readTextFile(EXAMPLE), "every copy", [
    KEYS,
    `${KEYS.slice(0, -1)}, { cooldownDuration: 0 })`,
  ]);
  for (const change of changes) text = replaced(text, name, change);
  return text;
}

function replaced(text: string, name: string, [from, to]: readonly [string, string]): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${name}: "${from}" occurs ${parts.length - 1} times`);
  return parts.join(to);
}

/** Runs a program as the bank of a lane. */
export async function withBank<T>(
  trial: Trial,
  lane: Lane,
  program: string,
  run: (bench: BankBench) => Promise<T>,
): Promise<T> {
  const file = `${lane.folder}/bank.ts`;
  await Deno.writeTextFile(file, program);
  const flags = "--quiet --no-prompt --no-check --allow-net --allow-read --allow-env";
  const command = `${Deno.execPath()} run ${flags} --config ${root}deno.json ${file} ${lane.folder}`;
  return await withCommand(trial, lane, command, run);
}

/** Runs a command line as the bank of a lane. */
export async function withCommand<T>(
  { platform }: Trial,
  { folder, hookUrl }: Lane,
  command: string,
  run: (bench: BankBench) => Promise<T>,
): Promise<T> {
  const bank = await startBank({ dir: platform.dir, folder, hookUrl, command, print: () => {} });
  try {
    return await run(await openBankBench(platform, { folder, hookUrl, keyLeadSeconds: 1 }));
  } finally {
    await bank.stop();
  }
}

const OUTSIDE = `${root}tests/scripts/integrators/certify/outside_banks`;

/** The banks that were written from docs/bank.md alone: how each is started, as far as this machine can. */
export async function outsideBanks(dir: string): Promise<ReadonlyMap<string, string>> {
  const library = await packageFolder(pinned(await readProject(), "jose"));
  await Deno.mkdir(`${dir}/outside/node_modules`, { recursive: true });
  await Deno.symlink(library, `${dir}/outside/node_modules/jose`);
  await Deno.copyFile(`${OUTSIDE}/node_bank.js`, `${dir}/outside/bank.mjs`);
  const fresh = "env KEY_COOLDOWN=0"; // as for every copy of the example
  const banks = new Map([["Node", `${fresh} node ${dir}/outside/bank.mjs`]]);
  const isPythonThere = PAYMENT_EXAMPLES.some((one) => one.language === "Python" && canRun(one));
  return isPythonThere ? banks.set("Python", `${fresh} ${PYTHON} ${OUTSIDE}/python_bank.py`) : banks;
}
