/** Figures of one day: counts, times and minutes. They add up over processes, days and participants. No I/O. */

/** Requests by their answer, payments, pushes of orders by their result, and orders by their end. */
export const COUNTS = [
  "succeeded",
  "rejected",
  "failed",
  "payments",
  "answered",
  "refused",
  "unclear",
  "unreachable",
  "answeredAtFirst",
  "answeredLater",
  "givenUp",
] as const;

export type Count = typeof COUNTS[number];

/** Timed calls: requests of TPPs, and pushes of orders to a bank. */
export const TIMES = ["requests", "pushes"] as const;

export type Time = typeof TIMES[number];

/**
 * Minutes of the day: in which a process has looked at the banks (`observed`), and in which a bank's orders were held, an
 * outage was announced, or the bank did not answer orders (`down`).
 */
export const MINUTES = ["observed", "held", "outage", "down"] as const;

export type Minute = typeof MINUTES[number];

/** Upper bounds in milliseconds. Slower ones are counted behind the last. */
export const BUCKETS = [50, 100, 250, 500, 1000, 2000, 3000] as const;

export const DAY_MS = 86_400_000;

const MINUTES_OF_DAY = 1440;

export interface Figures {
  readonly counts: Partial<Record<Count, number>>;
  /** Requests that were not answered with success, by the reason of the error catalogue. */
  readonly reasons: Record<string, number>;
  /** Numbers by bucket. */
  readonly times: Partial<Record<Time, number[]>>;
  /** One bit for each minute of the day (UTC). */
  readonly minutes: Partial<Record<Minute, Uint8Array>>;
}

export function noFigures(): Figures {
  return { counts: {}, reasons: {}, times: {}, minutes: {} };
}

export function countOne({ counts }: Figures, name: Count): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

export function countReason({ reasons }: Figures, reason: string): void {
  reasons[reason] = (reasons[reason] ?? 0) + 1;
}

export function countTime({ times }: Figures, name: Time, milliseconds: number): void {
  const place = BUCKETS.findIndex((most) => milliseconds <= most);
  const numbers = times[name] ??= emptyBuckets();
  const bucket = place < 0 ? BUCKETS.length : place;
  numbers[bucket] = (numbers[bucket] ?? 0) + 1;
}

/** Marks the minute of an instant. */
export function markMinute({ minutes }: Figures, name: Minute, at: number): void {
  const bits = minutes[name] ??= new Uint8Array(MINUTES_OF_DAY / 8);
  const minute = Math.floor(at % DAY_MS / 60_000);
  bits[minute >> 3] = (bits[minute >> 3] ?? 0) | 1 << (minute & 7);
}

/** Adds `other` to `sum`. A minute that both have counts once. */
export function addFigures(sum: Figures, other: Figures): void {
  for (const name of COUNTS) {
    const more = other.counts[name];
    if (more !== undefined) sum.counts[name] = (sum.counts[name] ?? 0) + more;
  }
  for (const [name, more] of Object.entries(other.reasons)) {
    sum.reasons[name] = (sum.reasons[name] ?? 0) + more;
  }
  for (const name of TIMES) {
    const more = other.times[name];
    if (more === undefined) continue;
    const numbers = sum.times[name] ??= emptyBuckets();
    for (const place of numbers.keys()) numbers[place] = (numbers[place] ?? 0) + (more[place] ?? 0);
  }
  for (const name of MINUTES) {
    const more = other.minutes[name];
    if (more !== undefined) sum.minutes[name] = united(sum.minutes[name], more);
  }
}

export function united(one: Uint8Array | undefined, other: Uint8Array | undefined): Uint8Array {
  const bits = new Uint8Array(MINUTES_OF_DAY / 8);
  for (const place of bits.keys()) bits[place] = (one?.[place] ?? 0) | (other?.[place] ?? 0);
  return bits;
}

/** How many minutes both have. */
export function common(one: Uint8Array | undefined, other: Uint8Array | undefined): number {
  if (one === undefined || other === undefined) return 0;
  let number = 0;
  for (const [place, byte] of one.entries()) {
    for (let bits = byte & (other[place] ?? 0); bits > 0; bits &= bits - 1) number++;
  }
  return number;
}

/**
 * Returns the bound below which this part of the times is, such as 0.95. Returns undefined without times, and null if
 * it is above every bound.
 */
export function boundOf(
  numbers: readonly number[] | undefined,
  part: number,
  bounds: readonly number[] = BUCKETS,
): number | null | undefined {
  const all = (numbers ?? []).reduce((sum, number) => sum + number, 0);
  if (all === 0) return undefined;
  let below = 0;
  for (const [place, number] of (numbers ?? []).entries()) {
    below += number;
    if (below >= all * part) return bounds[place] ?? null;
  }
  return null;
}

function emptyBuckets(): number[] {
  return Array<number>(BUCKETS.length + 1).fill(0);
}

/** The day of an instant (UTC), such as `2040-01-15`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
