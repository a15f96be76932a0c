/**
 * Pushes due events to every subscriber, one walk per client and bank, so that a slow or dead receiver delays nobody else.
 * A process pushes at once what it has committed itself. It looks at an
 * owner again when its next event is due. What another process has left, passes over the events that wait find. Orders have workers, slots and breakers of their own.
 */
import { ApiError, isStoreFailure } from "../../base/kernel/api_error.ts";
import { allEnded, errorText } from "../../base/kernel/batches.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { StandingOf } from "../guards/security/standing.ts";
import { deliverEvents, type DeliverEventsDeps, type EventReceiver, type Walked } from "./deliver_events.ts";
import type { EventOwner } from "./event_store.ts";
import { openEventOwners } from "./event_owner_store.ts";
import { findSubscription, type Subscription } from "./subscription_store.ts";

export interface DeliverDueEventsDeps extends DeliverEventsDeps {
  /** Returns the client's current registration. */
  readonly findClient: (clientId: ClientId) => Promise<SubscribedClient | null>;
  readonly standingOf: StandingOf;
}

export interface SubscribedClient {
  readonly clientId: ClientId;
  readonly orgId: string;
  readonly eventNotificationUri?: string;
}

export interface EventDelivery {
  /** Starts walks without waiting for receivers. Returns how many. */
  start(isStopped: () => boolean): Promise<number>;
  /** Pushes what is due and waits for the outcomes. Returns the number of pushes. */
  deliver(): Promise<number>;
  /** Resolves when the walks under way have ended. Never rejects. */
  settled(): Promise<unknown>;
}

/** Walks of one process at one time. Others begin when these have ended. */
const MAX_WALKS = 200;
/** Of these, of one client, so that one with many banks and a slow receiver does not hold them all. */
const MAX_WALKS_OF_CLIENT = 4;
/**
 * How long an owner is left alone after a walk that has pushed nothing, for each further page that it has read: 50 pages
 * of dead events are read once a minute. A wake ends it.
 */
const REST_MS = 1_200;
export function openEventDelivery(deps: DeliverDueEventsDeps): EventDelivery {
  const wakes = openWakes(deps);
  const walks = openWalks(deps, wakes);
  const nextOwners = openEventOwners(deps.store);
  const start = async (isStopped: () => boolean): Promise<number> => {
    let begun = 0;
    for (const owner of wakes.due(deps.steady())) {
      if (walks.areFull()) break;
      if (walks.begin(owner, isStopped)) begun++;
    }
    for (const owner of await nextOwners(isStopped)) {
      if (isStopped()) break;
      if (!walks.isResting(owner) && walks.begin(owner, isStopped)) begun++;
    }
    return begun;
  };
  return {
    start,
    async deliver() {
      await start(() => false);
      const walked = await allEnded(walks.underWay());
      return walked.reduce((sum, { pushed }) => sum + pushed, 0);
    },
    settled: () => Promise.allSettled(walks.underWay()),
  };
}

interface Wakes {
  add(owner: EventOwner, at: number): void;
  done(owner: EventOwner): void;
  /** Returns those whose time has come. */
  due(now: number): readonly EventOwner[];
}

/** When to look at the events of an owner, by the steady clock (ms), of those that this process knows to have some. */
function openWakes({ events }: DeliverDueEventsDeps): Wakes {
  const wakes = new Map<string, { readonly owner: EventOwner; readonly at: number }>();
  const add = (owner: EventOwner, at: number): void => {
    const known = wakes.get(ownerName(owner));
    if (known === undefined || at < known.at) wakes.set(ownerName(owner), { owner, at });
  };
  events.onEveryStaged((owner) => add(owner, -Infinity));
  return {
    add,
    done: (owner) => void wakes.delete(ownerName(owner)),
    due: (now) => [...wakes.values()].filter(({ at }) => at <= now).map(({ owner }) => owner),
  };
}

interface Walks {
  /** Returns false if the owner has a walk, or too many others have one. Then its turn comes after theirs. */
  begin(owner: EventOwner, isStopped: () => boolean): boolean;
  isResting(owner: EventOwner): boolean;
  /** Whether no walk can begin until one has ended. */
  areFull(): boolean;
  underWay(): readonly Promise<Walked>[];
}

function openWalks(deps: DeliverDueEventsDeps, wakes: Wakes): Walks {
  const walks = new Map<string, { readonly owner: EventOwner; readonly walk: Promise<Walked> }>();
  const rests = new Map<string, number>();
  const areFull = (): boolean => walks.size >= MAX_WALKS;
  const isFull = ({ clientId }: EventOwner): boolean =>
    areFull() ||
    [...walks.values()].filter(({ owner }) => owner.clientId === clientId).length >= MAX_WALKS_OF_CLIENT;
  return {
    begin(owner, isStopped) {
      const name = ownerName(owner);
      if (walks.has(name)) return false;
      if (isFull(owner)) {
        wakes.add(owner, -Infinity);
        return false;
      }
      wakes.done(owner);
      rests.delete(name);
      const walk = walkOf(deps, owner, isStopped).then((walked) => {
        if (walked.againAt !== undefined) wakes.add(owner, walked.againAt);
        if (walked.pushed === 0 && walked.pages > 1) {
          rests.set(name, deps.steady() + (walked.pages - 1) * REST_MS);
        }
        return walked;
      }).finally(() => void walks.delete(name));
      walk.catch((error) => {
        if (!isStoreFailure(error)) deps.log.error("work.failed", { error: errorText(error) });
      });
      walks.set(name, { owner, walk });
      return true;
    },
    areFull,
    isResting: (owner) => deps.steady() < (rests.get(ownerName(owner)) ?? -Infinity),
    underWay: () => [...walks.values()].map(({ walk }) => walk),
  };
}

async function walkOf(
  deps: DeliverDueEventsDeps,
  owner: EventOwner,
  isStopped: () => boolean,
): Promise<Walked> {
  const receiver = async (): Promise<EventReceiver | undefined> => {
    const subscription = (await findSubscription(deps.store, owner))?.value;
    return subscription === undefined ? undefined : await receiverOf(deps, subscription);
  };
  if (await receiver() === undefined) return { pushed: 0, pages: 0 };
  return await deliverEvents(deps, owner, receiver, isStopped);
}

/**
 * Returns where the events go. Nowhere, and they wait for polling, if the directory no longer states the address, or if
 * the TPP is not active or the platform cannot know whether it is (contract EVT11).
 */
async function receiverOf(
  { findClient, standingOf }: DeliverDueEventsDeps,
  { clientId, callbackUrl }: Subscription,
): Promise<EventReceiver | undefined> {
  if (callbackUrl === undefined) return undefined;
  try {
    const client = await findClient(clientId);
    if (client === null || client.eventNotificationUri !== callbackUrl) return undefined;
    if (await standingOf(client) !== "active") return undefined;
    return { clientId, orgId: client.orgId, uri: callbackUrl };
  } catch (error) {
    if (!(error instanceof ApiError) || isStoreFailure(error)) throw error;
    return undefined;
  }
}

function ownerName({ clientId, bank }: EventOwner): string {
  return `${clientId} ${bank}`;
}
