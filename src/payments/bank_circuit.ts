/**
 * A circuit breaker per bank: after five failures in a row its orders wait half a minute, then one of them tries and
 * the others wait for what it finds. In this process's memory only: it spares a struggling bank, nothing depends on it.
 */
import type { BankCode } from "../kernel/identifiers.ts";
import type { Clock } from "../kernel/clock.ts";
import { ORDER_PUSH_SECONDS } from "../profile.ts";

/** Asks and tells. */
export interface BankCircuit {
  /**
   * Asked by whoever is about to push: undefined where it may, else until when (ms) the bank is left alone. The
   * first one that may after a pause is the probe.
   */
  admit(bank: BankCode): number | undefined;
  /** Whether the bank is being left alone; asking changes nothing. */
  isOpen(bank: BankCode): boolean;
  succeeded(bank: BankCode): void;
  failed(bank: BankCode): void;
}

interface State {
  readonly failures: number;
  /** Milliseconds; while closed, 0. */
  readonly openUntil: number;
}

const FAILURES_TO_OPEN = 5;
const OPEN_MS = 30_000;
/** A probe that has not told anything by then counts as lost. */
const PROBE_MS = (ORDER_PUSH_SECONDS + 1) * 1000;

/** A breaker with every circuit closed. */
export function openBankCircuit(clock: Clock): BankCircuit {
  const states = new Map<BankCode, State>();
  return {
    admit(bank) {
      const state = states.get(bank);
      if (state === undefined || state.failures < FAILURES_TO_OPEN) return undefined;
      const now = clock();
      if (now < state.openUntil) return state.openUntil;
      states.set(bank, { ...state, openUntil: now + PROBE_MS });
      return undefined;
    },
    isOpen(bank) {
      const state = states.get(bank);
      return state !== undefined && state.failures >= FAILURES_TO_OPEN && clock() < state.openUntil;
    },
    succeeded: (bank) => void states.delete(bank),
    failed(bank) {
      const failures = (states.get(bank)?.failures ?? 0) + 1;
      states.set(bank, { failures, openUntil: failures >= FAILURES_TO_OPEN ? clock() + OPEN_MS : 0 });
    },
  };
}
