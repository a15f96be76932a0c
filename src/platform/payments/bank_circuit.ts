/**
 * A circuit breaker per bank and TPP. Only the first push of each order counts: an order may fail for a reason of its
 * own, and would otherwise count again at every retry. The failures of one TPP open the breaker for that TPP alone.
 * If it is open for two TPPs, it is open for all, and still every TPP has its own probes, so that no TPP waits for
 * another's orders. The state is in this process's memory only. It reduces the load of an unreachable bank, and no
 * order depends on it.
 */
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import { ORDER_PUSH_SECONDS } from "../profile.ts";
import type { Payment } from "./payment.ts";
import type { PaymentOrder } from "./payment_order.ts";

/** The properties of an order that the breaker uses. */
export type CircuitOrder = Pick<PaymentOrder, "bank" | "failures"> & Pick<Payment, "clientId">;

export interface BankCircuit {
  /**
   * Called before each push. Returns undefined if the order may be pushed now, else when to try again (milliseconds).
   * After a pause it admits, per TPP, one order at a time that has not failed before and one that has. Neither waits
   * for the other, nor for another TPP's.
   */
  admit(order: CircuitOrder): number | undefined;
  /** Whether the bank is in a pause for this TPP. Does not change any count. */
  isOpen(bank: BankCode, client: ClientId): boolean;
  /** Returns the banks whose breaker is open, with the number of TPPs whose own failures have opened it. */
  open(): readonly { readonly bank: BankCode; readonly clients: number }[];
  /** The bank sent a response. The breaker closes for every TPP. */
  answered(bank: BankCode): void;
  /** Counts a failure: no connection, no response in time, or a 5xx. */
  unreachable(order: CircuitOrder): void;
  /** The bank asked for a pause (`Retry-After`), milliseconds. No order of this TPP is pushed to it meanwhile. */
  paused(order: CircuitOrder, milliseconds: number): void;
}

/** The failures of one TPP's orders at one bank since the bank last responded. */
interface State {
  /** Number of orders whose first push has failed. */
  readonly failures: number;
  /** Milliseconds. Time of the last such failure, or of the TPP's first probe if it has none. */
  readonly at: number;
  /** Milliseconds. When the next order of each kind may be pushed while the breaker is open. */
  readonly waitUntil: { first: number; again: number };
}

const FAILURES_TO_OPEN = 5;
const TPPS_TO_OPEN_FOR_ALL = 2;
const PAUSE_MS = 30_000;
/** A probe without a result after this time counts as lost. */
const PROBE_MS = (ORDER_PUSH_SECONDS + 1) * 1000;
/** Failures further apart do not count as one outage. */
const MEMORY_MS = 300_000;

/** Opens a circuit breaker. `steady` is a clock that never goes back. */
export function openBankCircuit(steady: Clock): BankCircuit {
  const banks = new Map<BankCode, Map<ClientId, State>>();
  /** Returns the states that are not too old. */
  const statesOf = (bank: BankCode): Map<ClientId, State> => {
    const now = steady();
    const kept = [...banks.get(bank) ?? []].filter(([, { at }]) => now - at < MEMORY_MS);
    const states = new Map(kept);
    banks.set(bank, states);
    return states;
  };
  const pauses = openPauses(steady);
  return {
    admit(order) {
      const pausedUntil = pauses.endOf(order);
      if (pausedUntil !== undefined) return pausedUntil;
      const states = statesOf(order.bank);
      if (!isOpenFor(states, order.clientId, isTripped)) return undefined;
      const now = steady();
      const state = states.get(order.clientId) ?? { failures: 0, at: now, waitUntil: { first: 0, again: 0 } };
      const kind = isFirst(order) ? "first" : "again";
      if (now < state.waitUntil[kind]) return state.waitUntil[kind];
      state.waitUntil[kind] = now + PROBE_MS;
      states.set(order.clientId, state);
      return undefined;
    },
    isOpen(bank, client) {
      const now = steady();
      return isOpenFor(statesOf(bank), client, (state) => isTripped(state) && now < state.at + PAUSE_MS);
    },
    open: () => openIn(banks, steady()),
    answered: (bank) => void banks.delete(bank),
    unreachable(order) {
      if (isFirst(order)) countFailure(statesOf(order.bank), order.clientId, steady());
    },
    paused: pauses.begin,
  };
}

function openIn(
  banks: ReadonlyMap<BankCode, ReadonlyMap<ClientId, State>>,
  now: number,
): ReturnType<BankCircuit["open"]> {
  const isOpen = (state: State): boolean => isTripped(state) && now - state.at < MEMORY_MS;
  const counted = [...banks].map(([bank, states]) => ({
    bank,
    clients: [...states.values()].filter(isOpen).length,
  }));
  return counted.filter(({ clients }) => clients > 0);
}

/** Pauses that banks asked for, by bank and TPP. */
function openPauses(steady: Clock): {
  /** Returns when the pause ends (milliseconds), or undefined if there is none. */
  endOf(order: CircuitOrder): number | undefined;
  begin(order: CircuitOrder, milliseconds: number): void;
} {
  const pauses = new Map<string, number>();
  const nameOf = ({ bank, clientId }: CircuitOrder): string => `${bank} ${clientId}`;
  return {
    endOf(order) {
      const until = pauses.get(nameOf(order));
      if (until !== undefined && steady() < until) return until;
      pauses.delete(nameOf(order));
      return undefined;
    },
    begin: (order, milliseconds) => void pauses.set(nameOf(order), steady() + milliseconds),
  };
}

function countFailure(states: Map<ClientId, State>, client: ClientId, at: number): void {
  const failures = (states.get(client)?.failures ?? 0) + 1;
  const waitUntil = { first: at + PAUSE_MS, again: at + PAUSE_MS };
  states.set(client, { failures, at, waitUntil });
}

function isTripped({ failures }: State): boolean {
  return failures >= FAILURES_TO_OPEN;
}

/** Whether the TPP's own state matches, or the states of so many TPPs that the bank itself must be the cause. */
function isOpenFor(
  states: ReadonlyMap<ClientId, State>,
  client: ClientId,
  isSuch: (state: State) => boolean,
): boolean {
  const own = states.get(client);
  if (own !== undefined && isSuch(own)) return true;
  return [...states.values()].filter(isSuch).length >= TPPS_TO_OPEN_FOR_ALL;
}

function isFirst({ failures }: CircuitOrder): boolean {
  return failures === 0;
}
