/** Opens the delivery of events, and the jobs that stage notices. */
import { ApiError, isStoreFailure } from "../../base/kernel/api_error.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { statementUrl } from "../core/participants/guarded_fetch.ts";
import { type CertifiedKey, certifiedKeys } from "../core/participants/participant_keys.ts";
import { statementEnd } from "../core/participants/software_statement.ts";
import type { Client } from "../core/registration/client.ts";
import { type EventDelivery, openEventDelivery } from "../events/deliver_due_events.ts";
import type { TracedPush } from "../events/deliver_events.ts";
import { openPushSlots } from "../events/delivery/push_slots.ts";
import { type Expiring, expiringKey, expiringStatement } from "../events/expiry.ts";
import { spreadNotices } from "../events/spread_notices.ts";
import { type NoticeJobs, openExpirySweep } from "../events/notify_expiries.ts";
import type { EventPush } from "../operations/traces/open_traces.ts";
import type { SharedParts } from "./shared_parts.ts";

/** Limits of pushes of events in one process, apart from those of orders. */
const MAX_PUSHES = { perReceiver: 10, total: 100 };

export function openEventWork(shared: SharedParts): NoticeJobs & { readonly eventDelivery: EventDelivery } {
  return { ...openNotices(shared), eventDelivery: openDelivery(shared) };
}

function openDelivery(shared: SharedParts): EventDelivery {
  const { clients, config, eventCircuit, ownKeyRing: { signer }, pushMemory, store, tracePush } = shared;
  return openEventDelivery({
    ...config,
    ...shared,
    signer,
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
function openNotices(shared: SharedParts): NoticeJobs {
  const { clients, store } = shared;
  const listClients = (after: ClientId | undefined, limit: number): Promise<readonly Client[]> =>
    clients.list(store, after, limit);
  const staging = { ...shared, listClients };
  return {
    notifyExpiries: openExpirySweep<Client>({
      ...staging,
      expiringOf: (client) => expiringOf(shared, client),
    }),
    spreadNotices: (isStopped) => spreadNotices(staging, isStopped),
  };
}

async function expiringOf(
  { store, statuses, clients, participantKeys, config: { directoryIssuer } }: SharedParts,
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
