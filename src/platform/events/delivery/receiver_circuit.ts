/**
 * A circuit breaker per receiver and sender, of payment orders to banks and of events to TPPs. Only a message's first
 * push counts. The failures of one sender open the breaker for that sender alone. If it is open for two, it is open for
 * all, and still every sender has its own probes. The state is in this process's memory, and no message depends on it.
 */
import type { SteadyClock, SteadyTime } from "../../../base/kernel/clock.ts";
import { ORDER_PUSH_SECONDS } from "../../../base/profile.ts";

/** The properties of a message that the breaker uses. */
export interface PushedMessage<R extends string, S extends string> {
  readonly receiver: R;
  readonly sender: S;
  /** Number of failed pushes of this message. */
  readonly failures: number;
}

export interface ReceiverCircuit<R extends string, S extends string> {
  /**
   * Called before each push. Returns undefined if the message may be pushed now, else when to try again.
   * After a pause it admits, per sender, one message at a time that has not failed before and one that has. Neither
   * waits for the other, nor for another sender's.
   */
  admit(message: PushedMessage<R, S>): SteadyTime | undefined;
  /** Whether the receiver is in a pause of the breaker for this sender. Does not change any count. */
  isOpen(receiver: R, sender: S): boolean;
  /** Whether the receiver is in a pause that it asked for, for this sender. */
  isPaused(receiver: R, sender: S): boolean;
  /** Returns the receivers whose breaker is open, with the number of senders whose own failures have opened it. */
  open(): readonly { readonly receiver: R; readonly senders: number }[];
  /** The receiver sent a response. The breaker closes for every sender. */
  answered(receiver: R): void;
  /** Counts a failure: no connection, no response in time, or a 5xx. */
  unreachable(message: PushedMessage<R, S>): void;
  /** The receiver asked for a pause (`Retry-After`), milliseconds. No message of this sender is pushed to it meanwhile. */
  paused(message: PushedMessage<R, S>, milliseconds: number): void;
}

/** The failures of one sender's messages at one receiver since it last responded. */
interface State {
  /** Number of messages whose first push has failed. */
  readonly failures: number;
  /** Milliseconds. Time of the last such failure, or of the sender's first probe if it has none. */
  readonly at: SteadyTime;
  /** Milliseconds. When the next message of each kind may be pushed while the breaker is open. */
  readonly waitUntil: { first: SteadyTime; again: SteadyTime };
}

const FAILURES_TO_OPEN = 5;
const SENDERS_TO_OPEN_FOR_ALL = 2;
const PAUSE_MS = 30_000;
/** A probe without a result after this time counts as lost. */
const PROBE_MS = (ORDER_PUSH_SECONDS + 1) * 1000;
/** Failures further apart do not count as one outage. */
const MEMORY_MS = 300_000;

/** Opens a circuit breaker. `steady` is a clock that never goes back. */
export function openReceiverCircuit<R extends string, S extends string>(
  steady: SteadyClock,
): ReceiverCircuit<R, S> {
  const receivers = new Map<R, Map<S, State>>();
  /** Returns the states that are not too old. */
  const statesOf = (receiver: R): Map<S, State> => {
    const now = steady();
    const kept = [...receivers.get(receiver) ?? []].filter(([, { at }]) => now - at < MEMORY_MS);
    const states = new Map(kept);
    receivers.set(receiver, states);
    return states;
  };
  const pauses = openPauses<R, S>(steady);
  return {
    admit(message) {
      const pausedUntil = pauses.endOf(message);
      if (pausedUntil !== undefined) return pausedUntil;
      const states = statesOf(message.receiver);
      if (!isOpenFor(states, message.sender, isTripped)) return undefined;
      const now = steady();
      const state = states.get(message.sender) ?? { failures: 0, at: now, waitUntil: { first: 0, again: 0 } };
      const kind = isFirst(message) ? "first" : "again";
      if (now < state.waitUntil[kind]) return state.waitUntil[kind];
      state.waitUntil[kind] = now + PROBE_MS;
      states.set(message.sender, state);
      return undefined;
    },
    isOpen(receiver, sender) {
      const now = steady();
      return isOpenFor(statesOf(receiver), sender, (state) => isTripped(state) && now < state.at + PAUSE_MS);
    },
    isPaused: (receiver, sender) => pauses.endOf({ receiver, sender }) !== undefined,
    open: () => openIn(receivers, steady()),
    answered: (receiver) => void receivers.delete(receiver),
    unreachable(message) {
      if (isFirst(message)) countFailure(statesOf(message.receiver), message.sender, steady());
    },
    paused: pauses.begin,
  };
}

function openIn<R extends string, S extends string>(
  receivers: ReadonlyMap<R, ReadonlyMap<S, State>>,
  now: SteadyTime,
): ReturnType<ReceiverCircuit<R, S>["open"]> {
  const isOpen = (state: State): boolean => isTripped(state) && now - state.at < MEMORY_MS;
  const counted = [...receivers].map(([receiver, states]) => ({
    receiver,
    senders: [...states.values()].filter(isOpen).length,
  }));
  return counted.filter(({ senders }) => senders > 0);
}

/** Pauses that receivers asked for, by receiver and sender. */
function openPauses<R extends string, S extends string>(steady: SteadyClock): {
  /** Returns when the pause ends (milliseconds), or undefined if there is none. */
  endOf(message: Omit<PushedMessage<R, S>, "failures">): SteadyTime | undefined;
  begin(message: PushedMessage<R, S>, milliseconds: number): void;
} {
  const pauses = new Map<string, SteadyTime>();
  const nameOf = ({ receiver, sender }: Omit<PushedMessage<R, S>, "failures">): string =>
    `${receiver} ${sender}`;
  return {
    endOf(message) {
      const until = pauses.get(nameOf(message));
      if (until !== undefined && steady() < until) return until;
      pauses.delete(nameOf(message));
      return undefined;
    },
    begin: (message, milliseconds) => void pauses.set(nameOf(message), steady() + milliseconds),
  };
}

function countFailure<S extends string>(states: Map<S, State>, sender: S, at: SteadyTime): void {
  const failures = (states.get(sender)?.failures ?? 0) + 1;
  const waitUntil = { first: at + PAUSE_MS, again: at + PAUSE_MS };
  states.set(sender, { failures, at, waitUntil });
}

function isTripped({ failures }: State): boolean {
  return failures >= FAILURES_TO_OPEN;
}

/** Whether the sender's own state matches, or the states of so many that the receiver itself must be the cause. */
function isOpenFor<S extends string>(
  states: ReadonlyMap<S, State>,
  sender: S,
  isSuch: (state: State) => boolean,
): boolean {
  const own = states.get(sender);
  if (own !== undefined && isSuch(own)) return true;
  return [...states.values()].filter(isSuch).length >= SENDERS_TO_OPEN_FOR_ALL;
}

function isFirst({ failures }: { readonly failures: number }): boolean {
  return failures === 0;
}
