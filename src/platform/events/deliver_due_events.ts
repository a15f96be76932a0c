/**
 * Pushes due events to every subscriber, one walk per client and bank, so that a slow or dead receiver delays nobody else.
 * A process pushes at once what it has committed itself. What another process has left, and what is retried, a pass
 * over the subscriptions finds. Orders have workers, slots and breakers of their own.
 */
import { ApiError, isStoreFailure } from "../../base/kernel/api_error.ts";
import { errorText } from "../../base/kernel/batches.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { StandingOf } from "../security/standing.ts";
import { deliverEvents, type DeliverEventsDeps, type EventReceiver, type Walked } from "./deliver_events.ts";
import type { EventOwner } from "./event_store.ts";
import type { Subscription } from "./subscription.ts";
import type { SubscriptionStore } from "./subscription_store.ts";

export interface DeliverDueEventsDeps extends DeliverEventsDeps {
  readonly subscriptions: SubscriptionStore;
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
/** Subscriptions that a pass reads at a time. */
const PAGE = 200;
/** A pass over the subscriptions takes at most this part of the time. */
const DUTY = 1 / 20;

export function openEventDelivery(deps: DeliverDueEventsDeps): EventDelivery {
  const wakes = openWakes(deps);
  const walks = openWalks(deps, wakes);
  let nextPassAt = -Infinity;
  const start = async (isStopped: () => boolean): Promise<number> => {
    const before = deps.steady();
    let begun = 0;
    for (const owner of wakes.due(before)) if (walks.begin(owner, undefined, isStopped)) begun++;
    if (before < nextPassAt) return begun;
    for await (const subscription of dueSubscriptions(deps)) {
      if (isStopped()) break;
      if (walks.begin(ownerOf(subscription), subscription, isStopped)) begun++;
    }
    nextPassAt = deps.steady() + (deps.steady() - before) / DUTY;
    return begun;
  };
  return {
    start,
    async deliver() {
      nextPassAt = -Infinity;
      await start(() => false);
      const walked = await Promise.all(walks.underWay());
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
    const known = wakes.get(nameOf(owner));
    if (known === undefined || at < known.at) wakes.set(nameOf(owner), { owner, at });
  };
  events.onEveryStaged((owner) => add(owner, -Infinity));
  return {
    add,
    done: (owner) => void wakes.delete(nameOf(owner)),
    due: (now) => [...wakes.values()].filter(({ at }) => at <= now).map(({ owner }) => owner),
  };
}

interface Walks {
  /** Returns false if the owner has a walk, or too many others have one. */
  begin(owner: EventOwner, subscription: Subscription | undefined, isStopped: () => boolean): boolean;
  underWay(): readonly Promise<Walked>[];
}

function openWalks(deps: DeliverDueEventsDeps, wakes: Wakes): Walks {
  const walks = new Map<string, Promise<Walked>>();
  return {
    begin(owner, subscription, isStopped) {
      const name = nameOf(owner);
      if (walks.size >= MAX_WALKS || walks.has(name)) return false;
      wakes.done(owner);
      const walk = walkOf(deps, owner, subscription, isStopped).then((walked) => {
        if (walked.againAt !== undefined) wakes.add(owner, walked.againAt);
        return walked;
      }).finally(() => void walks.delete(name));
      walk.catch((error) => {
        if (!isStoreFailure(error)) deps.log.error("work.failed", { error: errorText(error) });
      });
      walks.set(name, walk);
      return true;
    },
    underWay: () => [...walks.values()],
  };
}

async function* dueSubscriptions(deps: DeliverDueEventsDeps): AsyncGenerator<Subscription> {
  let after: Subscription | undefined;
  do {
    const page = await deps.subscriptions.list(after, PAGE);
    for (const subscription of page) {
      if (subscription.callbackUrl === undefined) continue;
      const some = await deps.events.waiting(ownerOf(subscription), 1);
      if (some.length > 0) yield subscription;
    }
    after = page.length < PAGE ? undefined : page.at(-1);
  } while (after !== undefined);
}

async function walkOf(
  deps: DeliverDueEventsDeps,
  owner: EventOwner,
  known: Subscription | undefined,
  isStopped: () => boolean,
): Promise<Walked> {
  const subscription = known ?? (await deps.subscriptions.find(deps.store, owner))?.value;
  const to = subscription === undefined ? undefined : await receiverOf(deps, subscription);
  return to === undefined ? { pushed: 0 } : await deliverEvents(deps, owner, to, isStopped);
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

function ownerOf({ clientId, bank }: EventOwner): EventOwner {
  return { clientId, bank };
}

function nameOf({ clientId, bank }: EventOwner): string {
  return `${clientId} ${bank}`;
}
