/**
 * Waits of polls for events (RFC 8936 §2.1). A waiting poll has released its place in the admission control. It looks once
 * a second, because another process may have committed the event, and ends when the process stops.
 */
import { currentTrace, releasePlaceWhile } from "../../base/http/context.ts";
import { preciseClock } from "../../base/kernel/clock.ts";
import type { EventOwner, EventStore, PlacedEvent } from "./event_store.ts";

/** A proxy waits 30 s for a response. */
const ROUNDS = 15;
const ROUND_MS = 1000;
/** Of one process. Each holds a connection, and costs a read a second. Further polls are answered at once. */
const MAX_WAITING = 50;
/** Of one client at all banks, so that no client takes the places of others. */
const MAX_WAITING_A_CLIENT = 10;
/** Of one client at one bank. */
const MAX_WAITING_AN_OWNER = 2;

/**
 * Returns what `read` finds: at once, or as soon as it finds any within {@link ROUNDS}.
 *
 * @param beforeWait called once, if there is a wait
 */
export type AwaitEvents = (
  owner: EventOwner,
  read: () => Promise<readonly PlacedEvent[]>,
  beforeWait: () => Promise<void>,
) => Promise<readonly PlacedEvent[]>;

export interface LongPollDeps {
  readonly events: Pick<EventStore, "onStaged">;
  /** Whether the process serves. A process that stops waits no longer. */
  readonly isServing: () => boolean;
}

export function openLongPolls({ events, isServing }: LongPollDeps): AwaitEvents {
  const waiting = new Set<EventOwner>();
  const mayWait = ({ clientId, bank }: EventOwner): boolean => {
    const own = [...waiting].filter((other) => other.clientId === clientId);
    return waiting.size < MAX_WAITING && own.length < MAX_WAITING_A_CLIENT &&
      own.filter((other) => other.bank === bank).length < MAX_WAITING_AN_OWNER;
  };
  return async (owner, read, beforeWait) => {
    let found = await read();
    const place = { ...owner }; // of this poll alone, also if polls share their owner
    if (found.length > 0 || !mayWait(owner)) return found;
    waiting.add(place);
    try {
      await beforeWait();
      for (let round = 0; round < ROUNDS && found.length === 0 && isServing(); round++) {
        await releasePlaceWhile(() => nextRound(events, owner));
        found = await read();
      }
      return found;
    } finally {
      waiting.delete(place);
    }
  };
}

/** Resolves after a second, or at once if this process commits an event of the owner. Such a wait is not a slow answer. */
async function nextRound(events: Pick<EventStore, "onStaged">, owner: EventOwner): Promise<void> {
  const began = preciseClock();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ROUND_MS);
  const forget = events.onStaged(owner, resolve);
  await promise;
  clearTimeout(timer);
  forget();
  const trace = currentTrace();
  if (trace !== undefined) trace.waitedMs = (trace.waitedMs ?? 0) + preciseClock() - began;
}
