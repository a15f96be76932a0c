/** Sums of journeys: how many reached each step, the times between, and the reasons of leaving. No I/O. */
import { type ConsentType, type Journey, type Step, STEPS } from "./journey.ts";

/** Upper bounds of the times between steps, seconds. Longer ones are counted behind the last. */
export const STEP_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 86_400] as const;

export interface FunnelSums {
  /** Cases by the steps that they have reached. */
  readonly reached: Partial<Record<Step, number>>;
  /** Cases that ended with a rejection, by the last step that they reached and the code of the reason. */
  readonly left: Record<string, number>;
  /** From the step before to this step: numbers by bucket. */
  readonly times: Partial<Record<Step, number[]>>;
}

/** Sums of one type of consents and one language. */
export interface FunnelPart extends FunnelSums {
  readonly type: ConsentType;
  readonly language: string;
}

export function noSums(): FunnelSums {
  return { reached: {}, left: {}, times: {} };
}

/** Adds a journey, or takes away one that was added before. */
export function countJourney(sums: FunnelSums, { reached, left }: Journey, by: 1 | -1): void {
  for (const [place, at] of reached.entries()) {
    const step = STEPS[place];
    if (step === undefined) break;
    sums.reached[step] = (sums.reached[step] ?? 0) + by;
    const before = reached[place - 1];
    if (before === undefined) continue;
    const numbers = sums.times[step] ??= emptyBuckets();
    const bucket = bucketOf(at - before);
    numbers[bucket] = (numbers[bucket] ?? 0) + by;
  }
  const last = STEPS[reached.length - 1];
  if (left === undefined || last === undefined) return;
  const name = `${last} ${left}`;
  sums.left[name] = (sums.left[name] ?? 0) + by;
  if (sums.left[name] === 0) delete sums.left[name];
}

/** Adds `other` to `sum`. */
export function addSums(sum: FunnelSums, other: FunnelSums): void {
  for (const step of STEPS) {
    const more = other.reached[step];
    if (more !== undefined) sum.reached[step] = (sum.reached[step] ?? 0) + more;
    const times = other.times[step];
    if (times === undefined) continue;
    const numbers = sum.times[step] ??= emptyBuckets();
    for (const place of numbers.keys()) numbers[place] = (numbers[place] ?? 0) + (times[place] ?? 0);
  }
  for (const [name, more] of Object.entries(other.left)) sum.left[name] = (sum.left[name] ?? 0) + more;
}

function bucketOf(milliseconds: number): number {
  const place = STEP_BUCKETS.findIndex((most) => milliseconds <= most * 1000);
  return place < 0 ? STEP_BUCKETS.length : place;
}

function emptyBuckets(): number[] {
  return Array<number>(STEP_BUCKETS.length + 1).fill(0);
}
