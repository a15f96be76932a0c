/**
 * A circuit breaker per bank, fed by the first push of each order only. A retry is not counted: an
 * order may fail for a reason of its own, and would otherwise count again at every retry. As long as only the orders of
 * one TPP fail, the breaker is open for that TPP alone. The state is in this process's memory only: it reduces the load
 * of a bank that cannot be reached, and no order depends on it.
 */
import type { BankCode, ClientId } from "../kernel/identifiers.ts";
import type { Clock } from "../kernel/clock.ts";
import { ORDER_PUSH_SECONDS } from "../profile.ts";
import type { Payment } from "./payment.ts";
import type { PaymentOrder } from "./payment_order.ts";

/** What the breaker has to know of an order. */
export type CircuitOrder = Pick<PaymentOrder, "bank" | "failures"> & Pick<Payment, "clientId">;

/** The breaker. */
export interface BankCircuit {
  /**
   * Asked before each push: undefined if the order may be pushed now, else when to ask again (ms). After a pause it
   * lets one order at a time through that has not failed before, and one that has: neither waits for the other.
   */
  admit(order: CircuitOrder): number | undefined;
  /** Whether the bank is in a pause for this TPP. Does not change the state. */
  isOpen(bank: BankCode, client: ClientId): boolean;
  /** The bank sent any answer: the breaker closes. */
  answered(bank: BankCode): void;
  /** No connection, no answer in time, or a 5xx. */
  unreachable(order: CircuitOrder): void;
}

interface State {
  /** Orders whose first push has failed since the bank last answered. */
  readonly failures: number;
  /** Whose orders they were. */
  readonly clients: ReadonlySet<ClientId>;
  /** Milliseconds. */
  readonly lastFailureAt: number;
  /** Milliseconds; after a pause, until when the probe under way of each kind has time to report. */
  readonly probing: { first: number; again: number };
}

const FAILURES_TO_OPEN = 5;
const PAUSE_MS = 30_000;
/** A probe that has not reported by then counts as lost. */
const PROBE_MS = (ORDER_PUSH_SECONDS + 1) * 1000;
/** Failures that lie further apart are not one outage. */
const MEMORY_MS = 300_000;

/** A breaker with every circuit closed. */
export function openBankCircuit(clock: Clock): BankCircuit {
  const states = new Map<BankCode, State>();
  const current = (bank: BankCode): State | undefined => {
    const state = states.get(bank);
    const age = clock() - (state?.lastFailureAt ?? -Infinity);
    return age >= 0 && age < MEMORY_MS ? state : undefined; // less than 0: the clock was set back
  };
  const tripped = (bank: BankCode, client: ClientId): State | undefined => {
    const state = current(bank);
    if (state === undefined || state.failures < FAILURES_TO_OPEN) return undefined;
    return state.clients.size > 1 || state.clients.has(client) ? state : undefined;
  };
  return {
    admit(order) {
      const state = tripped(order.bank, order.clientId);
      if (state === undefined) return undefined;
      const kind = isFirst(order) ? "first" : "again";
      const waitUntil = Math.max(state.lastFailureAt + PAUSE_MS, state.probing[kind]);
      const now = clock();
      if (now < waitUntil) return waitUntil;
      state.probing[kind] = now + PROBE_MS;
      return undefined;
    },
    isOpen(bank, client) {
      const state = tripped(bank, client);
      return state !== undefined && clock() < state.lastFailureAt + PAUSE_MS;
    },
    answered: (bank) => void states.delete(bank),
    unreachable(order) {
      if (!isFirst(order)) return;
      const before = current(order.bank);
      states.set(order.bank, {
        failures: (before?.failures ?? 0) + 1,
        clients: new Set([...before?.clients ?? [], order.clientId]),
        lastFailureAt: clock(),
        probing: { first: 0, again: 0 },
      });
    },
  };
}

function isFirst({ failures }: CircuitOrder): boolean {
  return failures === 0;
}
