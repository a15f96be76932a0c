/**
 * `deno task simulate`: the real platform among simulated parties, deterministic by its seed. Model: TigerBeetle's VOPR and
 * FoundationDB's simulation.
 */
import { openProgress } from "../../command_line/progress.ts";
import { runProgram } from "../../command_line/run.ts";
import { readSimulateOptions, type SimulateOptions, usage } from "./options.ts";
import { primitives } from "./fast_crypto.ts";
import { planRun, without } from "./plan.ts";
import type { Failure, Tally } from "./simulate.ts";
import type { Share, ShareResult } from "./worker.ts";

type Print = (line: string) => void;

const HOUR_MS = 3_600_000;
/** A thread is worth its start for about this many. */
const SEEDS_A_THREAD = 50;
/** Of a trace, the last ones. */
const MAX_LINES = 2000;

/** Runs what the options say. @returns whether everything held */
export async function simulate(options: SimulateOptions, print: Print): Promise<boolean> {
  const { first, seeds, seconds, hasRealCrypto } = options;
  if (options.only !== undefined) return await repeat(options.only, hasRealCrypto, print);
  print(`seeds from ${first}`);
  const startedAt = performance.now();
  const stride = Math.min(navigator.hardwareConcurrency, Math.ceil(seeds / SEEDS_A_THREAD));
  const done = Array.from({ length: stride }, () => 0);
  using progress = openProgress("seeds", seeds);
  const shares = done.map((_, offset) =>
    startShare({ first: first + offset, stride, end: first + seeds, seconds, hasRealCrypto }, (tally) => {
      done[offset] = tally.seeds;
      const count = done.reduce((sum, share) => sum + share, 0);
      progress.done(count, Math.max(count / seeds, tally.took / 1000 / seconds));
    })
  );
  const results: ShareResult[] = [];
  const failing = shares.map(async ({ result }) => {
    results.push(await result);
    if (results.at(-1)?.failure === undefined) return await Promise.reject(new Error("held"));
  });
  await Promise.any(failing).catch((error: AggregateError) => rethrowFaults(error)); // the first failure ends all
  for (const share of shares) share.cancel();
  progress[Symbol.dispose]();
  report(results.map(({ tally }) => tally), performance.now() - startedAt, print);
  const failure = results.find((result) => result.failure !== undefined)?.failure;
  if (failure !== undefined) reportFailure(failure, hasRealCrypto, print);
  return failure === undefined;
}

/** Runs a share in a worker; `cancel` ends it without a result. @param onTally gets the tally now and then */
function startShare(
  share: Share,
  onTally: (tally: Tally) => void,
): { readonly result: Promise<ShareResult>; cancel(): void } {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<ShareResult>();
  worker.onmessage = ({ data }): void => {
    if (data.tally === undefined) return onTally(data);
    worker.terminate();
    resolve(data);
  };
  worker.onerror = (event): void => {
    event.preventDefault();
    reject(new Error(event.message));
  };
  worker.postMessage(share);
  return { result: promise, cancel: () => worker.terminate() };
}

function rethrowFaults({ errors }: AggregateError): void {
  const fault = errors.find((error) => error instanceof Error && error.message !== "held");
  if (fault !== undefined) throw fault;
}

function report(tallies: readonly Tally[], took: number, print: Print): void {
  const sum = (name: keyof Tally): number => tallies.reduce((total, tally) => total + tally[name], 0);
  const hours = sum("passed") / HOUR_MS;
  print(
    `${sum("seeds")} seeds, ${sum("steps")} steps and ${hours.toFixed(0)} simulated hours in ` +
      `${(took / 1000).toFixed(1)} s: ${(took / sum("seeds")).toFixed(1)} ms a seed, ` +
      `${(hours / took * 60_000).toFixed(0)} simulated hours a minute`,
  );
}

function reportFailure(
  { seed, check, dropped, plan, result }: Failure,
  hasRealCrypto: boolean,
  print: Print,
): void {
  for (const part of [...plan.payments, ...plan.faults]) print(JSON.stringify(part));
  for (const line of result.trace.slice(-MAX_LINES)) print(line);
  for (const violation of result.violations) print(`VIOLATION ${violation.check}: ${violation.sentence}`);
  const less = dropped.length === 0 ? "" : ` --without ${dropped.join()}`;
  const real = hasRealCrypto ? " --crypto real" : "";
  print(`Seed ${seed} breaks "${check}". Repeat it: deno task simulate --seed ${seed}${less}${real}`);
}

/** One seed, with its trace. */
async function repeat(
  { seed, without: dropped }: NonNullable<SimulateOptions["only"]>,
  hasRealCrypto: boolean,
  print: Print,
): Promise<boolean> {
  const plan = without(planRun(seed), new Set(dropped));
  if (hasRealCrypto) await import("./real_crypto.ts"); // before the parties have their keys
  const { withSimulation } = await import("./simulate.ts"); // the platform, which is else loaded in threads alone
  const result = await withSimulation((run) => run(plan, true));
  for (const part of [...plan.payments, ...plan.faults]) print(JSON.stringify(part));
  for (const line of result.trace) print(line);
  for (const { check, sentence } of result.violations) print(`VIOLATION ${check}: ${sentence}`);
  print(`seed ${seed}: ${result.steps} steps, hash ${result.hash}, ${primitives.current.name} cryptography`);
  return result.violations.length === 0;
}

if (import.meta.main) await runProgram(usage, (args, print) => simulate(readSimulateOptions(args), print));
