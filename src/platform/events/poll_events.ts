/** A poll for events (RFC 8936): takes acknowledgements and errors, then returns what is not acknowledged, signed. */
import { signClaims } from "../../base/jose/sign_claims.ts";
import type { NamedKey } from "../../base/jose/sealed_jwt.ts";
import { asPaymentId, type PaymentId } from "../../base/kernel/identifiers.ts";
import {
  commitReplayRecords,
  type RequestState,
  transact,
  type TransactDeps,
} from "../../base/store/transaction.ts";
import type { Log } from "../log_events.ts";
import { afterError, jtiOf, placeOf } from "./event.ts";
import type { EventOwner, EventStore, PlacedEvent } from "./event_store.ts";
import type { AwaitEvents } from "./long_polls.ts";
import { MAX_EVENTS, type PollRequest } from "./poll_schema.ts";
import { claimsOf, type Origins, SET_TYP } from "./security_event_token.ts";

export interface PollEventsDeps extends TransactDeps, Origins {
  readonly log: Log;
  readonly events: EventStore;
  readonly awaitEvents: AwaitEvents;
  readonly signer: NamedKey;
  /** Returns the bank's reason of a rejected payment, if the payment is rejected and has one. */
  readonly rejectionReason: (payment: PaymentId) => Promise<string | undefined>;
}

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
  const sets = await Promise.all(sent.map((event) => signed(deps, owner, event)));
  return { moreAvailable: found.length > most, sets: Object.fromEntries(sets) };
}

/** Deletes acknowledged events, and puts off those with an error, in one commit with the request's replay records. */
async function recordOutcomes(deps: PollEventsDeps, { owner, request, ...state }: PollEvents): Promise<void> {
  const acknowledged = new Set(request.ack);
  const failed = Object.entries(request.setErrs ?? {}).filter(([jti]) => !acknowledged.has(jti));
  if (acknowledged.size + failed.length === 0) return;
  await transact(deps, { what: "events", request: state }, async (tx) => {
    for (const place of [...acknowledged].map(placeOf)) {
      if (place !== undefined) deps.events.stageGone(tx, owner, place);
    }
    await Promise.all(failed.map(async ([jti]) => {
      const place = placeOf(jti);
      const entry = place === undefined ? null : await deps.events.find(tx, owner, place);
      if (entry !== null) deps.events.stageChange(tx, entry, afterError(entry.value, deps.clock()));
    }));
  });
  const [first] = failed;
  if (first === undefined) return;
  deps.log.warn("events.rejected", { count: failed.length, bank: owner.bank, err: codeOf(first[1].err) });
}

/** The codes of RFC 8935 §2.4 are short words. Another text of the TPP is not logged. */
function codeOf(err: string): string {
  return /^[a-z_]+$/.test(err) ? err : "other";
}

async function signed(
  deps: PollEventsDeps,
  owner: EventOwner,
  event: PlacedEvent,
): Promise<[jti: string, token: string]> {
  const claims = claimsOf(event, owner, deps, await reasonFor(deps, event));
  return [jtiOf(event), await signClaims(claims, deps.signer, SET_TYP)];
}

/** The reason is a text of the bank and may name a person, so it stays in the payment, where it is sealed and erased. */
async function reasonFor(
  { rejectionReason }: PollEventsDeps,
  { resource, entry: { value } }: PlacedEvent,
): Promise<string | undefined> {
  const payment = value.type === "payment-status-changed" && value.status === "Rejected"
    ? asPaymentId(resource)
    : undefined;
  return payment === undefined ? undefined : await rejectionReason(payment);
}
