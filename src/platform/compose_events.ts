/** Builds the endpoints of events and of subscriptions to them, and the delivery of events. */
import type { ApiDeps } from "./app.ts";
import type { Shared, TimedParts } from "./compose_parts.ts";
import { openLongPolls } from "./events/long_polls.ts";
import type { TracedPush } from "./events/deliver_events.ts";
import { type EventDelivery, openEventDelivery } from "./events/deliver_due_events.ts";
import type { SignEventDeps } from "./events/sign_event.ts";
import { openPushSlots } from "./delivery/push_slots.ts";
import type { EventPush } from "./traces/push_trace.ts";
import type { Log } from "./log_events.ts";
import type { ResourceGuards } from "./security/resource_guards.ts";

/** Limits of pushes of events in one process, apart from those of orders. */
const MAX_PUSHES = { perReceiver: 10, total: 100 };

export function composeEvents(
  parts: TimedParts,
  shared: Shared,
  guards: ResourceGuards,
  log: Log,
): ApiDeps["events"] {
  const { store, clock, isServing = () => true } = parts;
  const { events, subscriptions } = shared;
  const awaitEvents = openLongPolls({ events, isServing });
  return { ...signing(parts, shared), store, clock, log, events, subscriptions, guards, awaitEvents };
}

export function composeEventDelivery(
  parts: TimedParts,
  shared: Shared,
  log: Log,
): EventDelivery {
  const { store, clock, steady, metrics, fetch, config } = parts;
  const { events, subscriptions, standingOf, clients, tracePush, eventCircuit } = shared;
  return openEventDelivery({
    ...signing(parts, shared),
    store,
    clock,
    steady,
    log,
    metrics,
    fetch,
    events,
    subscriptions,
    standingOf,
    findClient: (clientId) => clients.find(store, clientId),
    circuit: eventCircuit,
    slots: openPushSlots(MAX_PUSHES),
    tracePush: (push) => tracePush(pushSeen(push)),
    random: Math.random,
    loopbackReceivers: config.environment === "Sandbox",
  });
}

function signing(
  { config: { baseUrl, authUrl }, store, keys: { signer } }: Pick<TimedParts, "config" | "store" | "keys">,
  { payments }: Pick<Shared, "payments">,
): SignEventDeps {
  const rejectionReason: SignEventDeps["rejectionReason"] = async (id) =>
    (await payments.find(store, id))?.value.statusReason;
  return { baseUrl, authUrl, signer, rejectionReason };
}

function pushSeen({ owner, to, event, outcome, at, milliseconds }: TracedPush): EventPush {
  const { resource, entry: { value: { type, consentId, interactionId } } } = event;
  const status = outcome.status === undefined ? {} : { status: outcome.status };
  return {
    to,
    bank: owner.bank,
    consentId,
    ...(type === "payment-status-changed" ? { paymentId: resource } : {}),
    ...(interactionId === undefined ? {} : { interactionId }),
    at,
    milliseconds,
    ...status,
    ...(outcome.ok ? {} : { fault: outcome.fault }),
  };
}
