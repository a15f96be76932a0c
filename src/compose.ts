/** The composition root: the only file that knows every part. It builds stores, guards and the two apps, nothing else. */
import { apiApp, browserApp } from "./app.ts";
import { type OpenFlowStore, openOpenFlowStore } from "./backchannel/open_flow_store.ts";
import type { Config } from "./config.ts";
import { type ConsentStore, openConsentStore } from "./consents/consent_store.ts";
import { consentStatus } from "./consents/read_consent.ts";
import { openBrowserBinding } from "./frontchannel/browser_binding.ts";
import { type InteractionStore, openInteractionStore } from "./frontchannel/interaction_store.ts";
import type { PlatformApp } from "./http/endpoint.ts";
import { nameRequest } from "./http/interaction_id.ts";
import { type DrawErrorPage } from "./http/on_error.ts";
import { apiHeaders, browserHeaders } from "./http/response_headers.ts";
import { spendMarkers } from "./http/spend_markers.ts";
import { type ClaimStore, openClaimStore } from "./idempotency/claim_store.ts";
import { idempotent } from "./idempotency/idempotent.ts";
import type { KeyRing } from "./jose/key_ring.ts";
import type { Clock } from "./kernel/clock.ts";
import type { ConsentId } from "./kernel/identifiers.ts";
import { type AccessTokenStore, openAccessTokenStore } from "./oauth/access_token_store.ts";
import { type AuthorizationCodeStore, openAuthorizationCodeStore } from "./oauth/authorization_code_store.ts";
import type { OAuthRouteDeps } from "./oauth/routes.ts";
import { openPushedRequestStore, type PushedRequestStore } from "./oauth/pushed_request_store.ts";
import { type Readiness, readiness, storeProbe } from "./observability/health.ts";
import { type Log, type LogSink, openLog } from "./observability/log.ts";
import { requestLog } from "./http/request_log.ts";
import { openApiDocument } from "./openapi.ts";
import { openDirectoryKeys } from "./participants/directory_keys.ts";
import { guardedFetch } from "./participants/guarded_fetch.ts";
import { openParticipantKeys, type ParticipantKeySets } from "./participants/participant_keys.ts";
import type { SoftwareStatementDeps } from "./participants/software_statement.ts";
import { openBankCircuit } from "./payments/bank_circuit.ts";
import { deliverDueOrders, type DeliverOrderDeps } from "./payments/deliver_order.ts";
import { openOrderOutboxStore } from "./payments/order_outbox_store.ts";
import { openPaymentStore, type PaymentStore } from "./payments/payment_store.ts";
import { type ClientStore, openClientStore } from "./registration/client_store.ts";
import { accessToken } from "./security/access_token.ts";
import { answerSignature } from "./security/answer_signature.ts";
import { bankPath } from "./security/bank_path.ts";
import { clientCertificate } from "./security/client_certificate.ts";
import { payloadSignature } from "./security/payload_signature.ts";
import type { ResourceGuards } from "./security/resource_guards.ts";
import type { Store } from "./store/store.ts";
import { renderErrorPage } from "./ui/error_page.tsx";
import { chooseLanguage } from "./ui/language.ts";

/** What the platform is made from; everything that differs between a test, the sandbox and production. */
export interface PlatformParts {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly log: LogSink;
  readonly keys: KeyRing;
}

/** A Fetch handler. */
export interface Handler {
  fetch(request: Request): Promise<Response>;
}

/** A running platform: two apps to put behind listeners, and an end. */
export interface Platform {
  readonly api: Handler;
  readonly browser: Handler;
  readonly readiness: () => Promise<Readiness>;
  /** Pushes the payment orders that are due; gives how many were tried. For runtimes that keep time themselves. */
  readonly deliverDueOrders: () => Promise<number>;
  /** Does so every second until `stop`. */
  startWork(): void;
  /** Waits for the work under way; the store is the caller's to close. */
  stop(): Promise<void>;
}

/** Builds the platform. */
export function composePlatform(parts: PlatformParts): Promise<Platform> {
  const { config, store, clock } = parts;
  const log = openLog({ clock, sink: parts.log, level: config.logLevel });
  const shared = composeShared(parts, log);
  const api = composeApi(parts, shared, log);
  const ready = (): Promise<Readiness> =>
    readiness({ store: storeProbe(store) }, { directory: () => directoryHealth(shared.participantKeys) });
  const browser = composeBrowser(parts, shared, log, ready, () => openApiDocument(config, [api, browser]));
  const handler = (app: PlatformApp): Handler => ({ fetch: async (request) => await app.fetch(request) });
  return Promise.resolve({
    api: handler(api),
    browser: handler(browser),
    readiness: ready,
    ...composeWork(() => deliverDueOrders(shared.delivery), log),
  });
}

/** What both hosts share. */
interface Shared {
  readonly sandbox: boolean;
  readonly participantKeys: ParticipantKeySets;
  readonly statements: SoftwareStatementDeps;
  readonly trustAnchor: string;
  readonly clients: ClientStore;
  readonly tokens: AccessTokenStore;
  readonly codes: AuthorizationCodeStore;
  readonly requests: PushedRequestStore;
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly claims: ClaimStore;
  readonly interactions: InteractionStore;
  readonly openFlows: OpenFlowStore;
  readonly delivery: DeliverOrderDeps;
  readonly drawErrorPage: DrawErrorPage;
}

function composeShared(parts: PlatformParts, log: Log): Shared {
  const { config, store, clock } = parts;
  const sandbox = config.environment === "Sandbox";
  const urls = { allowedHosts: config.directoryHosts, loopbackHttp: sandbox };
  const fetchJson = guardedFetch({ fetch: parts.fetch, ...urls });
  const participantKeys = openParticipantKeys({ fetchJson, clock, log });
  const findDirectoryKey = openDirectoryKeys({ fetchJson, clock, jwksUri: config.directoryJwksUri });
  const { directoryIssuer, environment } = config;
  const clients = openClientStore(store);
  const payments = openPaymentStore(store);
  return {
    sandbox,
    participantKeys,
    statements: { findDirectoryKey, directoryIssuer, environment, urls },
    trustAnchor: new URL(config.directoryIssuer).host,
    clients,
    tokens: openAccessTokenStore(store, clock),
    codes: openAuthorizationCodeStore(store),
    requests: openPushedRequestStore(store),
    consents: openConsentStore(store),
    payments,
    delivery: composeDelivery(parts, log, clients, payments),
    claims: openClaimStore(store, clock),
    interactions: openInteractionStore(store),
    openFlows: openOpenFlowStore(store, clock),
    drawErrorPage: errorPages(sandbox),
  };
}

function composeApi(parts: PlatformParts, shared: Shared, log: Log): PlatformApp {
  const { config, store, clock } = parts;
  const { baseUrl, authUrl, currencies } = config;
  const { clients, consents, payments, claims, participantKeys: keys } = shared;
  const base = { store, clock, consents, payments, claims, baseUrl, currencies };
  const guards = composeGuards(parts, shared);
  const resources = { ...base, guards, idempotent: idempotent(claims) };
  return apiApp({
    log,
    drawErrorPage: shared.drawErrorPage,
    around: [
      nameRequest(),
      apiHeaders,
      requestLog({ log, clock }),
      answerSignature({ clock, signer: parts.keys.signer, issuer: authUrl, trustAnchor: shared.trustAnchor }),
      spendMarkers({ store, clock }),
    ],
    registration: {
      ...base,
      clients,
      keys,
      certificate: guards.certificate,
      statements: shared.statements,
      audience: config.registrationAudience,
      loopbackRedirects: shared.sandbox,
    },
    oauth: composeOAuth(parts, shared, guards),
    consents: resources,
    payments: { ...resources, ...shared.delivery },
    backchannel: {
      ...resources,
      openFlows: shared.openFlows,
      consentManagedByBank: async (bank) => (await clients.findBank(bank))?.consentManagedByBank === true,
    },
    paymentOrders: resources,
  });
}

function composeOAuth(parts: PlatformParts, shared: Shared, guards: ResourceGuards): OAuthRouteDeps {
  const { config: { baseUrl, authUrl }, store, clock } = parts;
  const { clients, consents, participantKeys: keys } = shared;
  const status = (
    id: ConsentId,
    owner: Parameters<typeof consentStatus>[2],
  ): ReturnType<typeof consentStatus> => consentStatus({ clock, consents }, id, owner);
  return {
    ...shared,
    store,
    clock,
    baseUrl,
    authUrl,
    keys,
    certificate: guards.certificate,
    bank: guards.bank,
    findCaller: clients.find,
    findClient: clients.find,
    isConsentAuthorized: async (id, owner) => await status(id, owner) === "Authorized",
    awaitsAuthorisation: async (id, owner) => await status(id, owner) === "AwaitingAuthorisation",
  };
}

/** Delivery of payment orders, by the request that makes one and by the worker alike. */
function composeDelivery(
  parts: PlatformParts,
  log: Log,
  clients: ClientStore,
  payments: PaymentStore,
): DeliverOrderDeps {
  const { config, store, clock, keys } = parts;
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
    paymentOrdersUri: async (bank) => (await clients.findBank(bank))?.paymentOrdersUri,
    random: Math.random,
  };
}

function composeGuards({ config, clock }: PlatformParts, shared: Shared): ResourceGuards {
  const { clientCertSource: source, proxySecret, baseUrl } = config;
  const { clients, participantKeys: keys, tokens, trustAnchor } = shared;
  return {
    certificate: clientCertificate({ clock, source, proxySecret }),
    bank: bankPath(clients.findBank),
    token: accessToken({ clock, baseUrl, keys, findAccessToken: tokens.find, findCaller: clients.find }),
    payloadSignature: payloadSignature({ clock, keys, trustAnchor }),
  };
}

function composeBrowser(
  parts: PlatformParts,
  shared: Shared,
  log: Log,
  ready: () => Promise<Readiness>,
  openApi: () => object,
): PlatformApp {
  const { config, store, clock, keys } = parts;
  const { baseUrl, authUrl } = config;
  return browserApp({
    log,
    drawErrorPage: shared.drawErrorPage,
    around: [nameRequest(), browserHeaders, requestLog({ log, clock }), spendMarkers({ store, clock })],
    discovery: { baseUrl, authUrl, findBank: shared.clients.findBank, keys },
    frontchannel: {
      ...shared,
      store,
      clock,
      authUrl,
      keys: shared.participantKeys,
      signer: keys.signer,
      decrypters: keys.decrypters,
      binding: openBrowserBinding(authUrl.startsWith("https:")),
    },
    pages: { authUrl, readiness: ready, openApi },
  });
}

const WORK_EVERY_MS = 1000;

/** The background work, one pass at a time. */
function composeWork(
  deliver: () => Promise<number>,
  log: Log,
): Pick<Platform, "deliverDueOrders" | "startWork" | "stop"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pass: Promise<unknown> = Promise.resolve();
  let stopped = false;
  const work = (): void => {
    pass = deliver()
      .catch((error: Error) => log.error("work.failed", { error: error.stack ?? error.message }))
      .finally(() => void (stopped || (timer = setTimeout(work, WORK_EVERY_MS))));
  };
  return {
    deliverDueOrders: deliver,
    startWork: () => void (timer ??= setTimeout(work, WORK_EVERY_MS)),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await pass;
    },
  };
}

function errorPages(sandbox: boolean): DrawErrorPage {
  return (c, { page, status }, interactionId) => {
    const language = chooseLanguage(c.req.header("accept-language"), c.req.query("lang"));
    c.header("content-type", "text/html; charset=utf-8");
    return c.newResponse(renderErrorPage({ page, interactionId, sandbox }, language), status);
  };
}

function directoryHealth(keys: ParticipantKeySets): { ok: boolean; detail?: string } {
  const { failing, oldestSeconds } = keys.health();
  return failing
    ? { ok: false, detail: `key sets are up to ${oldestSeconds} s old and could not be renewed` }
    : { ok: true };
}
