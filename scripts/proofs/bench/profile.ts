/**
 * Where the platform's main thread spends its time while payments are made: a sampling profile of its engine. Work of other
 * threads, such as cryptography and SQLite, is not in it.
 */
import { openServedEnvironment } from "../../testing/served_environment.ts";
import { idle, runPayments, runStages } from "./flows.ts";
import { AT_ONCE, meterOf, type RoundOptions } from "./rounds.ts";

/** Times in milliseconds a payment. */
export interface PaymentProfile {
  /** Processor time of all threads. */
  readonly cpu: number;
  /** Time that passed. */
  readonly passed: number;
  /** Time of the main thread by part of the code: a folder of the source, a package, a part of the runtime. */
  readonly parts: readonly Share[];
  /** Time of the main thread by function, without what it calls. */
  readonly functions: readonly Share[];
  readonly failures: number;
}

export interface Share {
  readonly name: string;
  readonly ms: number;
}

/** The members of a `.cpuprofile` file that are read here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  /** Ids of nodes. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const SHOWN = 25;
const SOURCE = new URL("../../../", import.meta.url).href;

/** @param path of the profile, for a viewer of profiles */
export async function profilePayments(
  { requests, rounds, warm }: RoundOptions,
  serve: Readonly<Record<string, string>>,
  path: string,
  say: (text: string) => void,
): Promise<PaymentProfile> {
  const folder = await Deno.makeTempDir();
  try {
    const payments = requests * rounds;
    const started = (
      [deno = "", run = "", ...rest]: readonly string[],
    ): readonly string[] => [deno, run, "--cpu-prof", `--cpu-prof-dir=${folder}`, ...rest];
    await using env = await openServedEnvironment(serve, undefined, started);
    say(`warming up with ${warm} payments`);
    await runStages(env, idle, warm, AT_ONCE);
    say(`${payments} payments`);
    const before = Date.now();
    const made = await runPayments(env, meterOf(env), payments, AT_ONCE);
    const after = Date.now();
    env.process.kill("SIGTERM");
    const { code, stderr } = await env.process.ended;
    const span = { ms: after - before, endedMsAgo: Date.now() - after };
    if (code !== 0) throw new Error(`the platform ended with ${code}: ${stderr}`);
    const profile = await readProfile(folder, path);
    return {
      ...sharesOf(profile, span, payments),
      cpu: made.cpu / payments,
      passed: span.ms / payments,
      failures: made.failures,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function readProfile(folder: string, path: string): Promise<CpuProfile> {
  for await (const { name } of Deno.readDir(folder)) {
    await Deno.copyFile(`${folder}/${name}`, path);
    return JSON.parse(await Deno.readTextFile(path)) as CpuProfile;
  }
  throw new Error("the platform has written no profile");
}

/** Sums the samples of the span in which the payments were made, before the end of the profile. */
export function sharesOf(
  { nodes, samples, timeDeltas }: CpuProfile,
  { ms, endedMsAgo }: { readonly ms: number; readonly endedMsAgo: number },
  payments: number,
): Pick<PaymentProfile, "parts" | "functions"> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  let agoMs = 0;
  for (let at = samples.length - 1; at >= 0 && agoMs < endedMsAgo + ms; at--) {
    const frame = frames.get(samples[at] ?? -1);
    const delta = timeDeltas[at] ?? 0;
    agoMs += delta / 1000;
    if (agoMs <= endedMsAgo || frame === undefined || frame.functionName === "(idle)") continue;
    add(parts, partOf(frame.url, frame.functionName), delta);
    add(functions, `${frame.functionName || "(anonymous)"} ${placeOf(frame)}`.trim(), delta);
  }
  return { parts: largest(parts, payments), functions: largest(functions, payments).slice(0, SHOWN) };
}

function add(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros);
}

function largest(sums: ReadonlyMap<string, number>, payments: number): Share[] {
  return [...sums].map(([name, micros]) => ({ name, ms: micros / 1000 / payments }))
    .sort((a, b) => b.ms - a.ms);
}

/** `src/platform/core/consents`, `npm:zod`, `ext:deno_kv`, or the engine's own name, such as `(garbage collector)`. */
function partOf(url: string, functionName: string): string {
  const [, packageName] = /\/npm\/registry\.npmjs\.org\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
  if (packageName !== undefined) return `npm:${packageName}`;
  if (url.startsWith(SOURCE)) return url.slice(SOURCE.length).split("/").slice(0, -1).join("/");
  if (url === "") return functionName.startsWith("(") ? functionName : "native functions";
  return url.split("/", 1)[0] ?? url;
}

function placeOf({ url, lineNumber }: CpuProfile["nodes"][number]["callFrame"]): string {
  if (url === "") return "";
  const place = url.startsWith(SOURCE)
    ? url.slice(SOURCE.length)
    : url.replace(/^.*registry\.npmjs\.org\//, "");
  return `${place}:${lineNumber + 1}`;
}

export function profileReport({ cpu, parts, functions, failures }: PaymentProfile, path: string): string {
  const busy = parts.reduce((sum, { ms }) => sum + ms, 0);
  const lines = (shares: readonly Share[]): string[] =>
    shares.map(({ name, ms }) =>
      `${ms.toFixed(2).padStart(7)} ms ${(ms / busy * 100).toFixed(1).padStart(5)} %  ${name}`
    );
  return [
    `a payment: ${cpu.toFixed(1)} ms of processor time, ${busy.toFixed(1)} ms of it on the main thread`,
    "",
    ...lines(parts),
    "",
    ...lines(functions),
    "",
    `${failures} failures. The profile is ${path}`,
    "",
  ].join("\n");
}
