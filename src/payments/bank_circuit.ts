/**
 * A circuit breaker per bank: after five failures in a row its orders wait half a minute, then one of them tries.
 * In this process's memory only: it spares a struggling bank, and nothing depends on it.
 */
import type { BankCode } from "../kernel/identifiers.ts";
import type { Clock } from "../kernel/clock.ts";

/** Asks and tells. */
export interface BankCircuit {
  /** Until when (ms) the bank is left alone, or undefined where it may be tried now. */
  openUntil(bank: BankCode): number | undefined;
  succeeded(bank: BankCode): void;
  failed(bank: BankCode): void;
}

interface State {
  readonly failures: number;
  readonly openUntil: number;
}

const FAILURES_TO_OPEN = 5;
const OPEN_MS = 30_000;

/** A breaker with every circuit closed. */
export function openBankCircuit(clock: Clock): BankCircuit {
  const states = new Map<BankCode, State>();
  return {
    openUntil(bank) {
      const state = states.get(bank);
      return state !== undefined && clock() < state.openUntil ? state.openUntil : undefined;
    },
    succeeded: (bank) => void states.delete(bank),
    failed(bank) {
      const failures = (states.get(bank)?.failures ?? 0) + 1;
      states.set(bank, { failures, openUntil: failures >= FAILURES_TO_OPEN ? clock() + OPEN_MS : 0 });
    },
  };
}
