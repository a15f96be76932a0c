/** The last pushes of orders to each bank, in memory, and what they say about the bank (contract OP30). */
import type { Clock } from "../../../base/kernel/clock.ts";

/** A push that the bank answered, or that no bank answered. One that it refused concerns only its order. */
export interface LastPush {
  /** Milliseconds. */
  readonly at: number;
  readonly isAnswered: boolean;
  readonly milliseconds: number;
}

export interface BankPushes {
  readonly bank: string;
  /** Oldest first. */
  readonly pushes: readonly LastPush[];
}

export interface LastPushes {
  push(bank: string, push: Omit<LastPush, "at">): void;
  /** Returns those to every bank, in notes. */
  all(): readonly ProcessPushes[];
}

/** A note of the last pushes of one process to some banks. A bank stays in its note. */
export interface ProcessPushes {
  /** That of the process is random, so that the same pushes in memory and in a note count once. */
  readonly id: string;
  readonly banks: readonly BankPushes[];
}

const MAX_PUSHES = 10;
/** A note is one record, which has room for these. */
const BANKS_OF_A_NOTE = 50;
/** Older ones say nothing about now. */
export const PUSHES_KEPT_MS = 15 * 60_000;
/** A bank has 3 s to answer a push. */
const SLOW_MS = 1000;

export function openLastPushes(clock: Clock): LastPushes {
  const kept = new Map<string, readonly LastPush[]>();
  const id = crypto.randomUUID();
  return {
    push(bank, push) {
      kept.set(bank, [...kept.get(bank) ?? [], { at: clock(), ...push }].slice(-MAX_PUSHES));
    },
    all() {
      const banks = kept.entries().map(([bank, pushes]) => ({ bank, pushes }));
      const notes = Map.groupBy(banks, (_, place) => Math.floor(place / BANKS_OF_A_NOTE));
      return [...notes].map(([note, banks]) => ({ id: `${id} ${note}`, banks }));
    },
  };
}

/** Returns the last pushes to a bank of all processes. Of two notes of the same id, the last one counts. */
export function pushesTo(bank: string, all: readonly ProcessPushes[], now: number): readonly LastPush[] {
  const processes = new Map(all.map(({ id, banks }) => [id, banks]));
  return [...processes.values()].flat().filter((one) => one.bank === bank).flatMap(({ pushes }) => pushes)
    .filter(({ at }) => at > now - PUSHES_KEPT_MS && at <= now)
    .toSorted((one, other) => one.at - other.at).slice(-MAX_PUSHES);
}

/** Returns when the run of failures began with which the pushes end, if there are at least so many; else undefined. */
export function failingSince(pushes: readonly LastPush[], least: number): number | undefined {
  const run = pushes.slice(pushes.findLastIndex(({ isAnswered }) => isAnswered) + 1);
  return run.length < least ? undefined : run[0]?.at;
}

export type PushState = "works" | "slow" | "failing";

/** A bank fails if it did not answer half of its last pushes, and is slow if it answered half of them after a second. */
export function judge(pushes: readonly LastPush[]): PushState {
  const times = pushes.filter(({ isAnswered }) => isAnswered).map(({ milliseconds }) => milliseconds);
  if (pushes.length > 0 && times.length <= pushes.length / 2) return "failing";
  return medianOf(times) > SLOW_MS ? "slow" : "works";
}

/** Returns the median, the lower one of two; 0 of none. */
export function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.ceil(numbers.length / 2) - 1] ?? 0;
}
