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
import { type AccessTokenStore, openAccessTokenStore } from "./oauth/access_token_store.ts";
import { type AuthorizationCodeStore, openAuthorizationCodeStore } from "./oauth/authorization_code_store.ts";
import { openPushedRequestStore, type PushedRequestStore } from "./oauth/pushed_request_store.ts";
import { type Readiness, readiness, storeProbe } from "./observability/health.ts";
import { type Log, type LogSink, openLog } from "./observability/log.ts";
import { requestLog } from "./http/request_log.ts";
import { openApiDocument } from "./openapi.ts";
import { openDirectoryKeys } from "./participants/directory_keys.ts";
import { guardedFetch } from "./participants/guarded_fetch.ts";
import { openParticipantKeys, type ParticipantKeySets } from "./participants/participant_keys.ts";
import type { SoftwareStatementDeps } from "./participants/software_statement.ts";
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
  /** Stops background work; the store is the caller's to close. */
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
    stop: () => Promise.resolve(),
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
  return {
    sandbox,
    participantKeys,
    statements: { findDirectoryKey, directoryIssuer, environment, urls },
    trustAnchor: new URL(config.directoryIssuer).host,
    clients: openClientStore(store),
    tokens: openAccessTokenStore(store, clock),
    codes: openAuthorizationCodeStore(store),
    requests: openPushedRequestStore(store),
    consents: openConsentStore(store),
    payments: openPaymentStore(store),
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
  const once = idempotent(claims);
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
    oauth: {
      ...base,
      ...shared,
      authUrl,
      keys,
      certificate: guards.certificate,
      bank: guards.bank,
      findCaller: clients.find,
      findClient: clients.find,
      isConsentAuthorized: async (id, owner) => await consentStatus(base, id, owner) === "Authorized",
      awaitsAuthorisation: async (id, owner) =>
        await consentStatus(base, id, owner) === "AwaitingAuthorisation",
    },
    consents: { ...base, guards, idempotent: once },
    payments: { ...base, guards, idempotent: once },
    backchannel: {
      ...base,
      guards,
      openFlows: shared.openFlows,
      consentManagedByBank: async (bank) => (await clients.findBank(bank))?.consentManagedByBank === true,
    },
    paymentOrders: { ...base, guards },
  });
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
