/** How the delivery to a subscriber stands, for operators and metrics (contract EVT16). */
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { PlatformMetrics } from "../observed/metrics.ts";
import type { Store } from "../../base/store/store.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import { jtiOf } from "./event.ts";
import type { EventOwner, EventStore, PlacedEvent } from "./event_store.ts";
import { pushOf } from "./push_state.ts";
import { listSubscriptions, type Subscription } from "./subscription_store.ts";

export interface DeliveryStatus {
  /** Events that are still pushed, and those that are dead. A larger number shows as {@link MAX_COUNTED}. */
  readonly waiting: number;
  readonly dead: number;
  /** Of those, when the oldest was stored, milliseconds. */
  readonly oldestAt?: number;
  /** Of the first event whose push has failed. */
  readonly failure?: { readonly jti: string; readonly why: string };
}

/** Events of one subscriber that are looked at. */
export const MAX_COUNTED = 1000;
/** Subscriptions that a pass reads. Those beyond it are not counted. */
const MAX_SUBSCRIPTIONS = 10_000;
const PAGE = 200;

export async function deliveryStatus(events: EventStore, owner: EventOwner): Promise<DeliveryStatus> {
  const found = await events.waiting(owner, MAX_COUNTED);
  const dead = found.filter(({ entry }) => pushOf(entry.value).dead).length;
  const times = found.map(({ entry }) => entry.value.stagedAt);
  const failed = found.find(({ entry }) => pushOf(entry.value).why !== undefined);
  return {
    waiting: found.length - dead,
    dead,
    ...(times.length === 0 ? {} : { oldestAt: Math.min(...times) }),
    ...(failed === undefined ? {} : { failure: failureOf(failed) }),
  };
}

function failureOf(event: PlacedEvent): NonNullable<DeliveryStatus["failure"]> {
  return { jti: jtiOf(event), why: pushOf(event.entry.value).why ?? "" };
}

export interface CountEventsDeps {
  readonly store: Store;
  readonly events: EventStore;
  /** Whether the client has deleted its registration. */
  readonly isDeleted: (clientId: ClientId) => Promise<boolean>;
  readonly metrics: PlatformMetrics;
  readonly clock: Clock;
}

/**
 * Counts the events that are pushed to subscribers, by client. Every process counts those of the whole database. Events
 * of a client that has deleted its registration are not pushed, and not counted.
 */
export async function countEvents(deps: CountEventsDeps): Promise<void> {
  const { events, store, metrics, clock } = deps;
  const counts = new Map<ClientId, { waiting: number; dead: number; oldestAt: number }>();
  let after: Subscription | undefined;
  for (let read = 0; read < MAX_SUBSCRIPTIONS; read += PAGE) {
    const page = await listSubscriptions(store, after, PAGE);
    for (const { clientId, bank, callbackUrl } of page) {
      if (callbackUrl === undefined || await deps.isDeleted(clientId)) continue;
      const { waiting, dead, oldestAt = Infinity } = await deliveryStatus(events, { clientId, bank });
      const sum = counts.get(clientId) ?? { waiting: 0, dead: 0, oldestAt: Infinity };
      counts.set(clientId, {
        waiting: sum.waiting + waiting,
        dead: sum.dead + dead,
        oldestAt: Math.min(sum.oldestAt, oldestAt),
      });
    }
    after = page.at(-1);
    if (page.length < PAGE) break;
  }
  const now = clock();
  const clients = [...counts];
  metrics.replace(
    "platform_events",
    clients.flatMap(([client, { waiting, dead }]) => [
      { labels: { client, state: "waiting" }, value: waiting },
      { labels: { client, state: "dead" }, value: dead },
    ]),
  );
  metrics.replace(
    "platform_event_oldest_age_seconds",
    clients.map(([client, { oldestAt }]) => ({
      labels: { client },
      value: oldestAt === Infinity ? 0 : Math.max(0, now - oldestAt) / 1000,
    })),
  );
}
