/** Builds the endpoints of events and of subscriptions to them, the delivery of events, and the jobs that stage notices. */
import { ApiError, isStoreFailure } from "../../base/kernel/api_error.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { ApiDeps } from "./app.ts";
import type { Shared, TimedParts } from "./compose_parts.ts";
import { openLongPolls } from "../events/long_polls.ts";
import type { TracedPush } from "../events/deliver_events.ts";
import { type EventDelivery, openEventDelivery } from "../events/deliver_due_events.ts";
import { type Expiring, expiringKey, expiringStatement } from "../events/expiry.ts";
import { openNoticeSpreadStore } from "../events/notice_spread_store.ts";
import { type NoticeJobs, openExpirySweep } from "../events/notify_expiries.ts";
import { spreadNotices } from "../events/spread_notices.ts";
import { type CertifiedKey, certifiedKeys } from "../core/participants/participant_keys.ts";
import { statementEnd } from "../core/participants/software_statement.ts";
import { statementUrl } from "../core/participants/guarded_fetch.ts";
import type { Client } from "../core/registration/client.ts";
import { openPushSlots } from "../events/delivery/push_slots.ts";
import type { EventPush } from "../operations/traces/push_trace.ts";
import type { Log } from "../observed/log_events.ts";
import type { ResourceGuards } from "../guards/security/resource_guards.ts";

/** Limits of pushes of events in one process, apart from those of orders. */
const MAX_PUSHES = { perReceiver: 10, total: 100 };

export function composeEvents(
  parts: TimedParts,
  shared: Shared,
  guards: ResourceGuards,
  log: Log,
): ApiDeps["events"] {
  const { store, clock, isServing = () => true, config: { baseUrl, authUrl }, keys: { signer } } = parts;
  const { events, subscriptions } = shared;
  const awaitEvents = openLongPolls({ events, isServing });
  return { baseUrl, authUrl, signer, store, clock, log, events, subscriptions, guards, awaitEvents };
}

/** The background work of events. */
export function composeEventWork(
  parts: TimedParts,
  shared: Shared,
  log: Log,
): NoticeJobs & { readonly eventDelivery: EventDelivery } {
  return { ...composeNotices(parts, shared, log), eventDelivery: composeEventDelivery(parts, shared, log) };
}

function composeEventDelivery(parts: TimedParts, shared: Shared, log: Log): EventDelivery {
  const { store, clock, steady, metrics, fetch, config, keys: { signer } } = parts;
  const { events, subscriptions, standingOf, clients, tracePush, eventCircuit, pushMemory } = shared;
  return openEventDelivery({
    baseUrl: config.baseUrl,
    authUrl: config.authUrl,
    signer,
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
    memory: pushMemory,
    tracePush: (push) => tracePush(pushSeen(push)),
    random: Math.random,
    loopbackReceivers: config.environment === "Sandbox",
  });
}

/** The jobs that stage notices (Decision T4). */
function composeNotices(
  { store, clock, config }: Pick<TimedParts, "store" | "clock" | "config">,
  shared: Shared,
  log: Log,
): NoticeJobs {
  const { events, clients, delivery: { steady } } = shared;
  const listClients = (after: ClientId | undefined, limit: number): Promise<readonly Client[]> =>
    clients.list(store, after, limit);
  const staging = { store, clock, events, listClients };
  const spreads = openNoticeSpreadStore(store);
  return {
    notifyExpiries: openExpirySweep<Client>({
      ...staging,
      steady,
      log,
      expiringOf: (client) => expiringOf({ store, ...config, ...shared }, client),
    }),
    spreadNotices: (isStopped) => spreadNotices({ ...staging, spreads }, isStopped),
  };
}

async function expiringOf(
  { store, statuses, clients, participantKeys, directoryIssuer }:
    & Pick<Shared, "statuses" | "clients" | "participantKeys">
    & Pick<TimedParts["config"], "directoryIssuer">
    & Pick<TimedParts, "store">,
  client: Client,
): Promise<readonly Expiring[]> {
  const { clientId, orgId, jwksUri } = client;
  if ((await statuses.find(clientId))?.standing !== "active") return [];
  const [statement, keys] = await Promise.all([
    clients.findStatement(store, clientId),
    participantKeys.published(client).then(certifiedKeys, withoutKeySet),
  ]);
  const endsAt = statement === null ? undefined : statementEnd(statement);
  const link = statementUrl(directoryIssuer, orgId);
  return [
    ...(endsAt === undefined ? [] : [expiringStatement(endsAt, link)]),
    ...keys.map((key) => expiringKey(key, jwksUri)),
  ];
}

/** The directory's failure is logged where it happens. The next sweep asks again. */
function withoutKeySet(error: unknown): readonly CertifiedKey[] {
  if (error instanceof ApiError && !isStoreFailure(error)) return [];
  throw error;
}

function pushSeen({ owner, to, event, outcome, at, milliseconds }: TracedPush): EventPush {
  const { resource, entry: { value } } = event;
  const { type, interactionId } = value;
  const status = outcome.status === undefined ? {} : { status: outcome.status };
  return {
    to,
    bank: owner.bank,
    ...("consentId" in value ? { consentId: value.consentId } : {}),
    ...(type === "payment-status-changed" ? { paymentId: resource } : {}),
    ...(interactionId === undefined ? {} : { interactionId }),
    at,
    milliseconds,
    ...status,
    ...(outcome.ok ? {} : { fault: outcome.fault }),
  };
}
