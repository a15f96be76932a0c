/** The composition root: the only file that knows every part. It builds stores, middleware and the apps of the hosts. */
import { apiHost, browserHost, type Host, type HostMiddleware, hostMiddleware } from "./app.ts";
import { composeEvents, composeEventWork } from "./compose_events.ts";
import { composeOperations } from "./compose_operations.ts";
import { composeShared, type PlatformParts, type Shared, type TimedParts } from "./compose_parts.ts";
import { composeWork, type PlatformWork } from "./compose_work.ts";
import { openClocks } from "./process_clocks.ts";
import { HOME_CELL } from "../config/cells.ts";
import { consentStatus } from "../core/consents/read_consent.ts";
import { openDecryptionLimit, openDeliveryLimit } from "../core/frontchannel/decryption_limit.ts";
import type { CreatePaymentDeps } from "../core/payments/create_payment.ts";
import { firstPush } from "../core/payments/first_push.ts";
import type { ResultRouteDeps } from "../core/backchannel/result_routes.ts";
import { openBrowserBinding } from "../core/frontchannel/browser_binding.ts";
import { backTo } from "../core/frontchannel/tpp_redirect.ts";
import { ownSignerOf } from "../evidence/evidence_store.ts";
import { listed, type MountedEndpoint } from "../guards/http/endpoint.ts";
import { currentFacts } from "../../base/http/context.ts";
import { apiHeaders, browserHeaders } from "../../base/http/host_middleware.ts";
import { commitReplayRecords } from "../guards/security/dpop_proof.ts";
import { idempotent } from "../guards/idempotency/idempotent.ts";
import { asClientId, type ConsentId, newConsentId } from "../../base/kernel/identifiers.ts";
import type { CaseKeys } from "../evidence/data_keys/case_keys.ts";
import type { OAuthRouteDeps } from "../core/oauth/routes.ts";
import { type Probe, type Readiness, readiness, storeProbe } from "../../base/observability/health.ts";
import { openLog } from "../../base/observability/log.ts";
import type { Log } from "../observed/log_events.ts";
import { platformDocument } from "./openapi.ts";
import { documentation, once, type PublicPageDeps } from "./public_pages.ts";
import { openLogStore } from "../evidence/evidence_log/log_store.ts";
import type { DisputeRouteDeps } from "../core/disputes/routes.ts";
import { openDisputeStore } from "../core/disputes/dispute_store.ts";
import { openReceiptSigner } from "../core/receipts/receipt_keys.ts";
import { beginEpoch } from "../operations/recovery/begin_epoch.ts";
import { openPlatformMetrics } from "../observed/metrics.ts";
import { guarded, openSpans, watchSigner } from "./measured_parts.ts";
import type { GuardedStore } from "../../base/store/guarded_store.ts";
import { fillOnScrape } from "./scraped_values.ts";
import { holdNewBank } from "../operations/recovery/hold_new_bank.ts";
import { openHoldStore, rejectWhileHeld } from "../operations/recovery/hold_store.ts";
import { openBankHealthStore, openCurrentHealth } from "../operations/health/bank_health_store.ts";
import { openEpochStore } from "../operations/recovery/epoch_store.ts";
import { accessToken } from "../guards/security/access_token.ts";
import { answerSignature, payloadSignature } from "../guards/security/payload_signature.ts";
import { activeBank, type ResourceGuards } from "../guards/security/resource_guards.ts";
import { bankPath } from "../guards/security/standing.ts";
import { clientCertificate } from "../guards/security/client_certificate.ts";
import { withoutRevoked } from "../guards/security/controls_store.ts";
import { platformRecords } from "./records.ts";
import { preciseClock } from "../../base/kernel/clock.ts";
import type { Reader } from "../../base/store/store.ts";
import { type RecordTrace, traceRequests } from "../guards/http/trace_requests.ts";
import type { OwnCaseRouteDeps } from "../operations/cases/own_case_routes.ts";
import { traceOf } from "../operations/traces/trace.ts";
import type { FindTpp } from "../guards/http/error_routes.ts";

export interface Handler {
  fetch(request: Request): Promise<Response>;
}

/** A running platform: the apps of its hosts for listeners, and background work. */
export interface Platform extends PlatformWork {
  readonly api: Handler;
  readonly browser: Handler;
  /** For operators, on a listener of its own. Composed when it is first asked for: not every process serves them. */
  readonly operations: Handler;
  readonly endpoints: { readonly [host in "api" | "browser" | "operations"]: readonly MountedEndpoint[] };
  readonly readiness: () => Promise<Readiness>;
  /** Makes the index of the documentation, so that no reader waits for it. */
  readonly prepareDocs: () => Promise<void>;
}

export async function composePlatform(given: PlatformParts): Promise<Platform> {
  const { config, clock } = given;
  const log: Log = openLog({ clock, sink: given.log, level: config.logLevel, context: currentFacts });
  const metrics = openPlatformMetrics();
  const store = guarded(given, metrics, log);
  watchSigner(given.signer, metrics, log);
  const { mark: markAge, ...clocks } = await openClocks({ ...given, store }, log);
  const parts: TimedParts = { ...given, ...clocks, store, metrics, spans: openSpans(given, metrics) };
  const shared = composeShared(parts, log);
  fillOnScrape({ ...given, metrics, shared, isStoreFailing: store.isFailing, process: given.process });
  const [epochs, holds] = [openEpochStore(store), openHoldStore(store)];
  const { consents } = shared;
  await beginEpoch({ store, clock, log, consents, epochs, holds, records: platformRecords });
  await shared.controls.get();
  const api = composeApi(parts, shared, log);
  const ready = (): Promise<Readiness> => readiness(requiredProbes(store, given), advisory(shared, parts));
  const health = { readiness: ready, isServing: given.isServing ?? (() => true) };
  const operations = once(() => composeOperations(parts, shared, log, health));
  const openApi = once(() => platformDocument(config, [api.endpoints, browser.endpoints]));
  const docs = once(() => documentation(openApi(), given));
  const browser = composeBrowser(parts, shared, log, { ...health, openApi, docs });
  return {
    api,
    browser,
    get operations() {
      return operations();
    },
    endpoints: listedOf(api, browser, operations),
    readiness: ready,
    prepareDocs: () => docs().prepare(),
    ...composeWork(
      { ...parts, log, markAge, readiness: ready },
      shared,
      composeEventWork(parts, shared, log),
    ),
  };
}

function listedOf(api: Host, browser: Host, operations: () => Host): Platform["endpoints"] {
  return {
    api: api.endpoints.map(listed),
    browser: browser.endpoints.map(listed),
    get operations() {
      return operations().endpoints.map(listed);
    },
  };
}

function requiredProbes(
  store: GuardedStore,
  { signer }: Pick<PlatformParts, "signer">,
): Readonly<Record<string, Probe>> {
  return { store: storeProbe(store.isWorking), ...(signer === undefined ? {} : { signer: signer.probe }) };
}

function advisory(shared: Shared, parts: Pick<PlatformParts, "advisory">): Readonly<Record<string, Probe>> {
  return { directory: () => directoryHealth(shared), clock: shared.directoryClock.health, ...parts.advisory };
}

function composeApi(parts: TimedParts, shared: Shared, log: Log): Host {
  const { config, store, clock, monotonic } = parts;
  const { baseUrl, authUrl, currencies, accountSchemes } = config;
  const { clients, consents, openConsents, payments, claims, participantKeys: keys } = shared;
  const base = { store, clock, consents, payments, claims, baseUrl, currencies, accountSchemes };
  const guards = composeGuards(parts, shared);
  const { signer } = parts.keys;
  const resources = { ...base, guards, idempotent: idempotent(claims), consentIds: idsOf(parts) };
  return apiHost({
    log,
    ...shared.errors,
    around: [
      ...hostMiddleware({ ...parts, ...shared }, log, apiHeaders, shared, traceMiddleware(parts, shared)),
      answerSignature({ clock, monotonic, signer, issuer: authUrl, trustAnchor: shared.trustAnchor }),
      commitReplayRecords({ store, clock }),
    ],
    registration: config.cell !== HOME_CELL ? undefined : {
      ...base,
      clients,
      keys,
      guards,
      statements: shared.statements,
      statuses: shared.statuses,
      standingOf: shared.standingOf,
      holdNewBank: holdNewBank(openEpochStore(store), openHoldStore(store)),
      audience: config.registrationAudience,
      loopbackRedirects: shared.site.sandbox,
    },
    oauth: composeOAuth(parts, shared, guards),
    consents: { ...resources, openConsents, limitFunds: (id) => shared.limits.take("funds", id) },
    payments: { ...resources, ...paymentDeps(shared) },
    receipts: { ...resources, authUrl, findClient: clients.find, receiptSigner: openReceiptSigner(parts) },
    backchannel: resources,
    results: { ...shared, ...resources, ...deliveryDeps(parts, shared) },
    paymentOrders: { ...resources, outbox: shared.delivery.outbox },
    ...composeCases(parts, shared, resources),
    traces: { ...resources, ...shared.errors, traces: shared.traces, traceQueue: shared.traceQueue },
    events: composeEvents(parts, shared, guards, log),
  });
}

function composeCases<Resources extends object>(
  { config, store, keys }: TimedParts,
  { events }: Shared,
  resources: Resources,
): {
  readonly cases: Resources & Pick<OwnCaseRouteDeps, "evidenceLog" | "origin" | "ownKeyRing">;
  readonly disputes: Resources & Pick<DisputeRouteDeps, "disputes" | "events">;
} {
  const origin = { issuer: config.authUrl, cell: config.cell };
  return {
    cases: { ...resources, evidenceLog: openLogStore(store), origin, ownKeyRing: keys },
    disputes: { ...resources, disputes: openDisputeStore(store), events },
  };
}

function paymentDeps(
  { delivery, figures }: Shared,
): Pick<CreatePaymentDeps, "outbox" | "figures" | "firstPush"> {
  return { outbox: delivery.outbox, figures, firstPush: (order) => firstPush(delivery, order) };
}

function deliveryDeps(
  { clock, config: { authUrl }, keys: { decrypters } }: TimedParts,
  { participantKeys: keys }: Shared,
): Pick<ResultRouteDeps, "keys" | "authUrl" | "decrypters" | "deliveryLimit"> {
  return { keys, authUrl, decrypters, deliveryLimit: openDeliveryLimit(clock) };
}

/** No middleware if traces are switched off. */
function traceMiddleware({ config, clock }: PlatformParts, shared: Shared): HostMiddleware {
  const record: RecordTrace = (...known) => shared.traceQueue.add(traceOf(...known));
  return config.traceDays === 0
    ? []
    : [traceRequests({ record, clock, elapsed: preciseClock, keepsJwts: shared.site.sandbox })];
}

/** The data key of a new consent is stored before its id is used. */
function idsOf({ caseKeys }: PlatformParts): Pick<CaseKeys, "newConsentId" | "takeBack"> {
  return caseKeys ?? { newConsentId: () => Promise.resolve(newConsentId()), takeBack: () => {} };
}

function composeOAuth(parts: PlatformParts, shared: Shared, guards: ResourceGuards): OAuthRouteDeps {
  const { config: { baseUrl, authUrl }, store, clock } = parts;
  const { clients, consents, participantKeys: keys } = shared;
  const status = (
    from: Reader,
    id: ConsentId,
    owner: Parameters<typeof consentStatus>[3],
  ): ReturnType<typeof consentStatus> => consentStatus({ clock, consents }, from, id, owner);
  return {
    ...shared,
    store,
    clock,
    baseUrl,
    authUrl,
    keys,
    certificate: guards.certificate,
    limit: guards.limit,
    bank: guards.bank,
    rejectWhileHeld: rejectWhileHeld(openHoldStore(store)),
    findCaller: clients.find,
    findClient: clients.find,
    isConsentAuthorized: async (from, id, owner) => await status(from, id, owner) === "Authorized",
    awaitsAuthorisation: async (from, id, owner) => await status(from, id, owner) === "AwaitingAuthorisation",
  };
}

function composeGuards(parts: PlatformParts, shared: Shared): ResourceGuards {
  const { config, clock } = parts;
  const { baseUrl } = config;
  const { clients, participantKeys: keys, standingOf, tokens, trustAnchor } = shared;
  return {
    certificate: clientCertificate(shared.readCertificate),
    limit: shared.limits.guard,
    bank: bankPath(clients.findBank),
    token: accessToken({
      baseUrl,
      keys,
      standingOf,
      rejectWhileHeld: rejectWhileHeld(openHoldStore(parts.store)),
      findAccessToken: withoutRevoked(shared.controls, tokens.find),
      verifyDpop: shared.verifyDpop,
      findCaller: clients.find,
    }),
    active: activeBank(standingOf, shared.rejectInOutage),
    payloadSignature: payloadSignature({ clock, keys, trustAnchor, requiredClaims: config.signatureClaims }),
  };
}

function composeBrowser(
  parts: TimedParts,
  shared: Shared,
  log: Log,
  pages: Pick<PublicPageDeps, "readiness" | "isServing" | "openApi" | "docs">,
): Host {
  const { config, store, clock, keys } = parts;
  const { baseUrl, authUrl } = config;
  const currentHealth = openCurrentHealth(openBankHealthStore(store), parts.steady);
  return browserHost({
    log,
    ...shared.errors,
    around: hostMiddleware(
      { ...parts, ...shared },
      log,
      browserHeaders,
      { admission: shared.admission },
      traceMiddleware(parts, shared),
    ),
    discovery: { baseUrl, authUrl, findBank: shared.findAnyBank, keys, outagesOf: shared.outagesOf },
    frontchannel: {
      ...shared,
      store,
      clock,
      log,
      authUrl,
      keys: shared.participantKeys,
      ownSigner: () => ownSignerOf(keys),
      decrypters: keys.decrypters,
      takeDecryption: openDecryptionLimit(clock),
      binding: openBrowserBinding(authUrl.startsWith("https:")),
      isBankFailing: shared.delivery.circuit.isOpen,
    },
    receipts: { keys, authUrl, site: shared.site },
    serviceLevels: { ...parts, ...shared, currentHealth },
    banks: { ...parts, ...shared, ...config, currentHealth },
    pages: composePages(parts, shared, pages),
  });
}

function composePages(
  { store }: TimedParts,
  shared: Shared,
  pages: Pick<PublicPageDeps, "readiness" | "isServing" | "openApi" | "docs">,
): PublicPageDeps {
  const findTpp = tppFinder(shared, store);
  return { ...pages, ...shared, ...shared.errors, findTpp };
}

/** Links lead only to active TPPs, because anyone can make up this address. */
function tppFinder({ clients, standingOf }: Shared, store: Reader): FindTpp {
  return async (text) => {
    const id = asClientId(text);
    const client = id === undefined ? null : await clients.find(store, id);
    const standing = client === null ? undefined : await standingOf(client).catch(() => undefined);
    return standing === "active" ? backTo(client).tpp : undefined;
  };
}

function directoryHealth({ participantKeys, statuses }: Shared): { ok: boolean; detail?: string } {
  const { failing, oldestSeconds } = participantKeys.health();
  const listSeconds = statuses.failingSeconds();
  const faults = [
    ...(listSeconds === undefined
      ? []
      : [`the status list is ${listSeconds} s old and could not be renewed`]),
    ...(failing ? [`key sets are up to ${oldestSeconds} s old and could not be renewed`] : []),
  ];
  return faults.length === 0 ? { ok: true } : { ok: false, detail: faults.join("; ") };
}
