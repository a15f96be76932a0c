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
  /** Returns those to the banks that were pushed to last. */
  all(): ProcessPushes;
}

/** The last pushes of one process. */
export interface ProcessPushes {
  /** Random, so that the same pushes in memory and in a note count once. */
  readonly id: string;
  readonly banks: readonly BankPushes[];
}

/** A process notes them in one record when there are new ones, so that they are few. */
const MAX_PUSHES = 10;
const MAX_BANKS = 50;
/** Older ones say nothing about now. */
export const PUSHES_KEPT_MS = 15 * 60_000;
/** A bank has 3 s to answer a push. */
const SLOW_MS = 1000;

export function openLastPushes(clock: Clock): LastPushes {
  const kept = new Map<string, readonly LastPush[]>();
  const id = crypto.randomUUID();
  return {
    push(bank, push) {
      const pushes = [...kept.get(bank) ?? [], { at: clock(), ...push }].slice(-MAX_PUSHES);
      kept.delete(bank);
      kept.set(bank, pushes); // the bank that was pushed to last is the last one
      const [oldest] = kept.keys();
      if (kept.size > MAX_BANKS && oldest !== undefined) kept.delete(oldest);
    },
    all: () => ({ id, banks: [...kept].map(([bank, pushes]) => ({ bank, pushes })) }),
  };
}

/** Returns the last pushes to a bank of all processes. Of two notes of a process, the last one counts. */
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
