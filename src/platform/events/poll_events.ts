/** A poll for events (RFC 8936): takes acknowledgements and errors, then returns what is not acknowledged, signed. */
import type { Entry } from "../../base/store/store.ts";
import {
  commitReplayRecords,
  newReplayRecords,
  type RequestState,
  type TransactDeps,
  transactFor,
  type Transaction,
} from "../../base/store/transaction.ts";
import type { Log } from "../observed/log_events.ts";
import { afterError, jtiOf, parseJti, type StoredEvent } from "./event.ts";
import type { EventOwner, EventStore, PlacedEvent } from "./event_store.ts";
import type { AwaitEvents } from "./long_polls.ts";
import { MAX_EVENTS, type PollRequest } from "./poll_schema.ts";
import { knownCode } from "./push_answer_schema.ts";
import { signEvent, type SignEventDeps } from "./sign_event.ts";

export interface PollEventsDeps extends TransactDeps, SignEventDeps {
  readonly log: Log;
  readonly events: EventStore;
  readonly awaitEvents: AwaitEvents;
}

/** Acknowledgements in one commit. Each is two writes, of which Deno KV takes 1000. */
const ACKS_AT_ONCE = 250;

export interface PollEvents extends RequestState {
  readonly owner: EventOwner;
  readonly request: PollRequest;
}

/** Signed events by `jti`, and whether there are more. */
export interface PolledEvents {
  readonly moreAvailable: boolean;
  readonly sets: Readonly<Record<string, string>>;
}

export async function pollEvents(deps: PollEventsDeps, command: PollEvents): Promise<PolledEvents> {
  const { owner, request: { maxEvents = MAX_EVENTS, returnImmediately = false } } = command;
  await recordOutcomes(deps, command);
  const most = Math.min(maxEvents, MAX_EVENTS);
  const read = (): Promise<readonly PlacedEvent[]> => deps.events.due(owner, most + 1);
  // A proof that is recorded only at the end of its request could be used again meanwhile.
  const spend = (): Promise<void> => commitReplayRecords(deps, command.replayRecords);
  const found = returnImmediately || most === 0 ? await read() : await deps.awaitEvents(owner, read, spend);
  const sent = found.slice(0, most);
  const signed = async (event: PlacedEvent): Promise<[jti: string, token: string]> => [
    jtiOf(event),
    await signEvent(deps, owner, event),
  ];
  const sets = await Promise.all(sent.map(signed));
  return { moreAvailable: found.length > most, sets: Object.fromEntries(sets) };
}

/**
 * Ends acknowledged events, and puts off those with an error, in one commit with the request's replay records. If there
 * are many acknowledgements, further commits have the others: each stands for itself.
 */
async function recordOutcomes(deps: PollEventsDeps, { owner, request, ...state }: PollEvents): Promise<void> {
  const acknowledged = [...new Set(request.ack)];
  const failed = Object.entries(request.setErrs ?? {}).filter(([jti]) => !acknowledged.includes(jti));
  if (acknowledged.length + failed.length === 0) return;
  await transactFor(deps, state, { what: "events" }, async (tx) => {
    await stageAcks(deps, tx, owner, acknowledged.slice(0, ACKS_AT_ONCE));
    await Promise.all(failed.map(async ([jti]) => {
      const entry = await find(deps, tx, owner, jti);
      if (entry !== null) deps.events.stageChange(tx, entry, afterError(entry.value, deps.clock()));
    }));
  });
  for (let start = ACKS_AT_ONCE; start < acknowledged.length; start += ACKS_AT_ONCE) {
    const some = acknowledged.slice(start, start + ACKS_AT_ONCE);
    const request = { ...state, replayRecords: newReplayRecords() };
    await transactFor(deps, request, { what: "events" }, (tx) => stageAcks(deps, tx, owner, some));
  }
  const [first] = failed;
  if (first === undefined) return;
  deps.log.warn("events.rejected", { count: failed.length, bank: owner.bank, err: knownCode(first[1].err) });
}

/** For an event that it does not have, no change is staged: it was acknowledged before, or is another client's. */
async function stageAcks(
  deps: PollEventsDeps,
  tx: Transaction,
  owner: EventOwner,
  jtis: readonly string[],
): Promise<void> {
  const found = await Promise.all(jtis.map((jti) => find(deps, tx, owner, jti)));
  for (const entry of found) if (entry !== null) deps.events.stageDone(tx, entry);
}

async function find(
  { events }: PollEventsDeps,
  tx: Transaction,
  owner: EventOwner,
  jti: string,
): Promise<Entry<StoredEvent> | null> {
  const place = parseJti(jti);
  return place === undefined ? null : await events.find(tx, owner, place);
}
