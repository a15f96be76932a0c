/** A long run at half load: as much time resting as working, while the platform's memory is watched. */
import type { FlowEnvironment } from "../../testing/flows.ts";
import { idle, runPayments } from "./flows.ts";
import { residentMegabytes } from "./process.ts";

/** The results of a soak. */
export interface Soak {
  readonly minutes: number;
  readonly payments: number;
  readonly failures: number;
  /** Resident memory, megabytes, about every half minute. */
  readonly memory: readonly { readonly minute: number; readonly megabytes: number }[];
  /** The most in each quarter: memory goes up and down with the garbage collector, a leak would raise its peaks. */
  readonly peaks: readonly number[];
  /** Of the peaks, megabytes an hour, by least squares. */
  readonly slope: number;
}

const CONCURRENCY = 8;
const PAYMENTS_AT_ONCE = 24;
const SAMPLE_MS = 30_000;

/** Soaks. */
export async function soak(
  env: FlowEnvironment,
  pid: number,
  minutes: number,
  say: (text: string) => void,
): Promise<Soak> {
  const began = performance.now();
  const elapsed = (): number => performance.now() - began;
  const memory: { minute: number; megabytes: number }[] = [];
  let [payments, failures, sampledAt] = [0, 0, -SAMPLE_MS];
  while (elapsed() < minutes * 60_000) {
    const start = elapsed();
    const sample = await runPayments(env, idle, PAYMENTS_AT_ONCE, CONCURRENCY);
    payments += sample.requests;
    failures += sample.failures;
    if (elapsed() - sampledAt >= SAMPLE_MS) {
      sampledAt = elapsed();
      memory.push({ minute: Math.round(sampledAt / 6000) / 10, megabytes: await residentMegabytes(pid) });
      say(`minute ${memory.at(-1)?.minute}: ${memory.at(-1)?.megabytes} MB, ${payments} payments`);
    }
    await new Promise((resolve) => setTimeout(resolve, elapsed() - start)); // half load
  }
  const quarters = [0, 1, 2, 3].map((quarter) =>
    memory.filter(({ minute }) => Math.min(3, Math.floor((4 * minute) / minutes)) === quarter)
  );
  const highest = quarters.flatMap((quarter) =>
    quarter.toSorted((a, b) => b.megabytes - a.megabytes).slice(0, 1)
  );
  const peaks = highest.map(({ megabytes }) => megabytes);
  return { minutes, payments, failures, memory, peaks, slope: slopeOf(highest) };
}

/** Megabytes an hour. */
function slopeOf(memory: Soak["memory"]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(memory.map(({ minute }) => minute)), mean(memory.map(({ megabytes }) => megabytes))];
  const above = memory.reduce((sum, { minute, megabytes }) => sum + (minute - x) * (megabytes - y), 0);
  const below = memory.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
  return below === 0 ? 0 : Math.round((above / below) * 60 * 10) / 10;
}
