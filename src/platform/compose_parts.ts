/** The parts that both hosts share: stores, keys, limits, delivery; everything that differs between deployments goes in here. */
import type { Config } from "./config.ts";
import { type ConsentStore, openConsentStore } from "./consents/consent_store.ts";
import {
  type AuthorizationSessionStore,
  openAuthorizationSessionStore,
} from "./frontchannel/authorization_session_store.ts";
import { type DrawErrorPage } from "./http/on_error.ts";
import { type ClaimStore, openClaimStore } from "./idempotency/claim_store.ts";
import type { KeyRing } from "../base/jose/key_ring.ts";
import type { Clock } from "../base/kernel/clock.ts";
import { type AccessTokenStore, openAccessTokenStore } from "./oauth/access_token_store.ts";
import { type AuthorizationCodeStore, openAuthorizationCodeStore } from "./oauth/authorization_code_store.ts";
import { openPushedRequestStore, type PushedRequestStore } from "./oauth/pushed_request_store.ts";
import { type Log, type LogSink } from "../base/observability/log.ts";
import { openDirectoryKeys } from "./participants/directory_keys.ts";
import { conditionalFetch, fetchStatement, guardedFetch } from "./participants/guarded_fetch.ts";
import { openParticipantKeys, type ParticipantKeySets } from "./participants/participant_keys.ts";
import type { SoftwareStatementDeps } from "./participants/software_statement.ts";
import { openBankCircuit } from "./payments/bank_circuit.ts";
import type { DeliverOrderDeps } from "./payments/deliver_order.ts";
import { openOrderOutboxStore } from "./payments/order_outbox_store.ts";
import { MAX_PUSHES, openPushSlots } from "./payments/push_slots.ts";
import { openPaymentStore, type PaymentStore } from "./payments/payment_store.ts";
import { openCurrentClients } from "./registration/current_clients.ts";
import { openStatusList, standingBy, type StatusList } from "./participants/status_list.ts";
import { type StandingOf, whyInactive } from "./security/standing.ts";
import type { BankCode, ClientId } from "../base/kernel/identifiers.ts";
import { ApiError } from "../base/kernel/api_error.ts";
import { type ClientStore, openClientStore } from "./registration/client_store.ts";
import { openHoldStore } from "./recovery/hold_store.ts";
import { aside } from "../base/http/aside.ts";
import { type Admission, openAdmission } from "./http/admission.ts";
import { type Callers, openCallers } from "./security/admit.ts";
import { certificateReader, type ReadCertificate } from "./security/client_certificate.ts";
import { laneBounds } from "./lanes.ts";
import { openLocalBuckets } from "./security/local_buckets.ts";
import { openRateLimit, type RateLimit } from "./security/rate_limit.ts";
import { openBucketStore } from "./security/rate_limit_store.ts";
import type { Store } from "../base/store/store.ts";
import { errorPages } from "./http/error_routes.ts";
import type { Site } from "../pages/site.ts";

/** What the platform is made from; everything that differs between a test, the sandbox and production. */
export interface PlatformParts {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly log: LogSink;
  readonly keys: KeyRing;
}

/** What both hosts share. */
export interface Shared {
  readonly site: Site;
  readonly participantKeys: ParticipantKeySets;
  readonly statuses: StatusList;
  readonly standingOf: StandingOf;
  readonly statements: SoftwareStatementDeps;
  readonly trustAnchor: string;
  /** As the directory's newest statements have them. */
  readonly clients: ClientStore;
  readonly tokens: AccessTokenStore;
  readonly codes: AuthorizationCodeStore;
  readonly requests: PushedRequestStore;
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly claims: ClaimStore;
  readonly interactions: AuthorizationSessionStore;
  readonly admission: Admission;
  readonly readCertificate: ReadCertificate;
  readonly callers: Callers;
  readonly limits: RateLimit;
  readonly delivery: DeliverOrderDeps;
  readonly drawErrorPage: DrawErrorPage;
}

/** Opens them. */
export function composeShared(given: PlatformParts, log: Log): Shared {
  const parts = { ...given, fetch: fetchAside(given.fetch) };
  const { config, store, clock } = parts;
  const readCertificate = certificateReader({
    clock,
    source: config.clientCertSource,
    proxySecret: config.proxySecret,
  });
  const callers = openCallers(readCertificate);
  const view = composeDirectoryView(parts, log);
  const payments = openPaymentStore(store);
  const site = { sandbox: isSandbox(config), operator: config.operator };
  return {
    ...view,
    site,
    trustAnchor: new URL(config.directoryIssuer).host,
    tokens: openAccessTokenStore(store, clock),
    codes: openAuthorizationCodeStore(store),
    requests: openPushedRequestStore(store),
    consents: openConsentStore(store),
    payments,
    admission: openAdmission({ bounds: laneBounds(config), clock, log }),
    readCertificate,
    callers,
    limits: openRateLimit({
      onProven: callers.proven,
      buckets: openBucketStore(store, clock),
      localBuckets: openLocalBuckets(clock),
      policies: config.rateLimits,
    }),
    delivery: composeDelivery(parts, log, view, payments),
    claims: openClaimStore(store, clock),
    interactions: openAuthorizationSessionStore(store),
    drawErrorPage: errorPages(site),
  };
}

/** Whoever waits for a bank or for the directory keeps no place in work meanwhile. */
function fetchAside(fetch: PlatformParts["fetch"]): PlatformParts["fetch"] {
  return (...request) => aside(() => fetch(...request));
}

function isSandbox({ environment }: Config): boolean {
  return environment === "Sandbox";
}

/** The current view of the directory: keys, standing, and the clients that its statements define. */
type DirectoryView = Pick<
  Shared,
  "participantKeys" | "statuses" | "standingOf" | "statements" | "clients"
>;

function composeDirectoryView({ config, store, clock, fetch }: PlatformParts, log: Log): DirectoryView {
  const { directoryIssuer, environment } = config;
  const loopbackHttp = isSandbox(config);
  const urls = { allowedHosts: config.directoryHosts, loopbackHttp };
  const fetchJson = guardedFetch({ fetch, ...urls });
  const statuses = openStatusList({
    fetchIfChanged: conditionalFetch({ fetch, ...urls }),
    clock,
    log,
    url: `${directoryIssuer}/status`,
  });
  const versionOf = (clientId: ClientId): number | undefined => statuses.peek(clientId)?.version;
  const findDirectoryKey = openDirectoryKeys({ fetchJson, clock, jwksUri: config.directoryJwksUri });
  const statements = { findDirectoryKey, directoryIssuer, environment, urls };
  const stored = openClientStore(store);
  const current = openCurrentClients({
    store,
    clock,
    log,
    clients: stored,
    statuses,
    statements,
    fetchStatement: (orgId) => fetchStatement(fetchJson, directoryIssuer, orgId),
    loopbackRedirects: loopbackHttp,
  });
  return {
    participantKeys: openParticipantKeys({ fetchJson, clock, log, versionOf }),
    statuses,
    standingOf: standingBy(statuses), // the one place that says who may start anything: blocks of the operator belong here
    statements,
    clients: { ...stored, ...current },
  };
}

/** Delivery of payment orders, by the request that makes one and by the worker alike. */
function composeDelivery(
  parts: PlatformParts,
  log: Log,
  view: DirectoryView,
  payments: PaymentStore,
): DeliverOrderDeps {
  const { config, store, clock, keys } = parts;
  const holds = openHoldStore(store);
  return {
    store,
    clock,
    log,
    payments,
    fetch: parts.fetch,
    signer: keys.signer,
    authUrl: config.authUrl,
    outbox: openOrderOutboxStore(store),
    circuit: openBankCircuit(clock),
    paymentOrdersUri: async (bank) => (await view.clients.findBank(bank))?.paymentOrdersUri,
    whyHeld: async (bank) =>
      await holds.find(bank) === null ? await whyNoOrders(view, bank) : "The store was restored: reconcile.",
    random: Math.random,
    loopbackBanks: config.environment === "Sandbox",
    slots: openPushSlots(MAX_PUSHES),
    walking: new Set(),
    underWay: new Set(),
  };
}

/** Why a bank must not have orders, by the directory's word or for want of it; undefined if it may. */
async function whyNoOrders(
  { clients, standingOf }: DirectoryView,
  code: BankCode,
): Promise<string | undefined> {
  try {
    const bank = await clients.findBank(code);
    const standing = bank === null ? "withdrawn" : await standingOf(bank);
    return standing === "active" ? undefined : whyInactive("bank", standing);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "platform.unavailable") throw error;
    return "The directory cannot be asked whether the bank is active.";
  }
}
