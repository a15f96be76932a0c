/** Opens what the hosts and the background work share, each part once. */
import type { Config } from "../config/config.ts";
import { openConsentStore } from "../core/consents/consent_store.ts";
import { openOpenConsents } from "../core/consents/open_consents.ts";
import { openAccessTokenStore } from "../core/oauth/access_token_store.ts";
import { openDirectoryClock } from "../core/participants/directory_clock.ts";
import { openDirectoryKeys } from "../core/participants/directory_keys.ts";
import { conditionalFetch, fetchStatement, guardedFetch } from "../core/participants/guarded_fetch.ts";
import { keepCopies } from "../core/participants/kept_copy_store.ts";
import { openParticipantKeys } from "../core/participants/participant_keys.ts";
import { openStatusList, standingBy } from "../core/participants/status_list.ts";
import type { DeliverOrderDeps } from "../core/payments/deliver_order.ts";
import { openDueBanks } from "../core/payments/due_banks.ts";
import { openOrderOutboxStore } from "../core/payments/order_outbox_store.ts";
import { openPaymentStore } from "../core/payments/payment_store.ts";
import { openReceiptSigner } from "../core/receipts/receipt_keys.ts";
import { openClientStore } from "../core/registration/client_store.ts";
import { clientsOfCell, openCurrentClients } from "../core/registration/current_clients.ts";
import { openPushMemory } from "../events/delivery/push_memory.ts";
import { MAX_PUSHES, openPushSlots } from "../events/delivery/push_slots.ts";
import { openReceiverCircuit } from "../events/delivery/receiver_circuit.ts";
import { openEventStore } from "../events/event_store.ts";
import { openLogStore } from "../evidence/evidence_log/log_store.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { ownSignerOf } from "../evidence/evidence_store.ts";
import { openAdmission } from "../guards/http/admission.ts";
import type { ErrorDeps } from "../guards/http/on_error.ts";
import type { Site } from "../../pages/site.ts";
import { errorPages } from "../guards/http/error_routes.ts";
import { openClaimStore } from "../guards/idempotency/idempotent.ts";
import { laneBounds } from "../guards/http/lane_bounds.ts";
import { openCallers } from "../guards/security/admit.ts";
import { certificateReader } from "../guards/security/client_certificate.ts";
import {
  openCurrentControls,
  outagesOf,
  rejectInOutage,
  withBlocks,
} from "../guards/security/controls_store.ts";
import { openDpopVerifier } from "../guards/security/dpop_proof.ts";
import { openExplain } from "../guards/security/proven_caller.ts";
import { openBucketStore, openLocalBuckets, openRateLimit } from "../guards/security/rate_limits.ts";
import { openFigures } from "../observed/figures/recorder.ts";
import { openFunnelStore } from "../observed/funnel/funnel_store.ts";
import { openKeptTime } from "../operations/cases/kept_time.ts";
import { openCurrentHealth } from "../operations/health/bank_health_store.ts";
import { isHeld, rejectWhileHeld } from "../operations/recovery/hold_store.ts";
import { openTraces } from "../operations/traces/open_traces.ts";
import { undecidedAfterSearch } from "../operations/unsettled/find_unsettled.ts";
import { whyHeldBy } from "../operations/why_held.ts";
import { errorPath, TRACES_PAGE_PATH } from "../../portal/paths.ts";
import { measuredFetch, tracedFetch } from "./measured_parts.ts";
import type { TimedParts } from "./platform_parts.ts";
import { logClock } from "./process_clocks.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The parts of a platform, of which each slice takes what it declares. */
export type SharedParts = ReturnType<typeof openSharedParts>;

// deno-lint-ignore explicit-module-boundary-types -- the list is the type
export function openSharedParts(given: TimedParts) {
  const { config, clock, steady, keys: ownKeyRing } = given;
  const origin = { issuer: config.authUrl, cell: config.cell };
  const site = { sandbox: isSandbox(config), operator: config.operator };
  const parts = { ...given, ownKeyRing, origin, site, ...openStores(given) };
  const directory = openDirectory(parts);
  const limits = openLimits(parts);
  const observed = {
    ...openTraces(parts),
    ...openFigures(parts),
    funnel: openFunnelStore(parts.store, config.reportDays * DAY_MS),
    currentHealth: openCurrentHealth(parts.store, steady),
  };
  const cases = openCases(parts, limits);
  const pushMemory = openPushMemory(
    steady,
    (seconds) => logClock(config, given.log, "clock.stored_ahead", seconds),
  );
  const all = { ...parts, ...directory, ...limits, ...observed, ...cases, pushMemory };
  return {
    ...all,
    ...openErrors(all),
    keys: directory.participantKeys,
    delivery: openDelivery(all),
    eventCircuit: openReceiverCircuit<ClientId, ClientId>(steady),
    receiptSigner: openReceiptSigner(given),
    keptTime: openKeptTime(parts),
    caseKeys: given.caseKeys,
    keepCasesMs: config.keepCasesDays * DAY_MS,
    isServing: given.isServing ?? (() => true),
    trustAnchor: new URL(config.directoryIssuer).host,
    verifyDpop: openDpopVerifier(clock),
  };
}

function openStores({ store, clock }: TimedParts) {
  return {
    claims: openClaimStore(clock),
    evidenceLog: openLogStore(store),
    isHeld,
    rejectWhileHeld,
    outbox: openOrderOutboxStore(store),
    tokens: openAccessTokenStore(clock),
  };
}

type Stored = TimedParts & ReturnType<typeof openStores>;

/** Who may ask, and how much. */
function openLimits({ config, store, clock, steady, log }: Stored) {
  const readCertificate = certificateReader({ ...config, clock, source: config.clientCertSource });
  const callers = openCallers(readCertificate);
  const buckets = openBucketStore({ store, clock, steady });
  const localBuckets = openLocalBuckets(steady);
  return {
    readCertificate,
    callers,
    admission: openAdmission({ bounds: laneBounds(config), steady, log }),
    limits: openRateLimit({ onProven: callers.proven, buckets, localBuckets, policies: config.rateLimits }),
    openConsents: openOpenConsents({ buckets, steady, most: config.maxOpenConsents }),
  };
}

/** Consents, payments and their events. */
function openCases(
  { config, store, clock }: Stored,
  { openConsents }: Pick<ReturnType<typeof openLimits>, "openConsents">,
) {
  const { baseUrl, eventDays, keepUnauthorisedDays, unsettledHours } = config;
  const events = openEventStore({ store, clock, keepMs: eventDays * DAY_MS, baseUrl });
  const unsettledMs = unsettledHours * HOUR_MS;
  const keepMs = keepUnauthorisedDays * DAY_MS;
  return {
    events,
    consents: openConsentStore(store, keepMs, events.stage, openConsents.giveBack),
    payments: openPaymentStore(store, events.stage, undecidedAfterSearch(clock, unsettledMs)),
    unsettledMs,
  };
}

/** The current data of the directory: keys, standing, and the clients that its statements define. */
function openDirectory(parts: Stored) {
  const { config, store, clock, steady, ages, log, spans, metrics } = parts;
  const { directoryIssuer, environment } = config;
  const loopbackHttp = isSandbox(config);
  const urls = { allowedHosts: config.directoryHosts, loopbackHttp };
  const traced = tracedFetch({ fetch: measuredFetch(parts.fetch, metrics), clock, spans }, "directory");
  const directoryClock = openDirectoryClock({ fetch: traced, clock, steady, log });
  const { fetch } = directoryClock;
  const fetchJson = guardedFetch({ fetch, ...urls });
  const keep = keepCopies({ store, clock, log });
  const fetchIfChanged = conditionalFetch({ fetch, ...urls });
  const statuses = openStatusList({ fetchIfChanged, ages, keep, log, url: `${directoryIssuer}/status` });
  const copies = { fetchJson, ages, keep, log };
  const findDirectoryKey = openDirectoryKeys({ ...copies, jwksUri: config.directoryJwksUri });
  const statements = { findDirectoryKey, directoryIssuer, environment, urls };
  const clients = openClientStore();
  const current = openCurrentClients({
    ...parts,
    clients,
    statuses,
    statements,
    fetchStatement: (orgId) => fetchStatement(fetchJson, directoryIssuer, orgId),
    loopbackRedirects: loopbackHttp,
  });
  const currentControls = openCurrentControls(store, steady);
  const ofCell = clientsOfCell(config, store, { ...clients, ...current });
  return {
    participantKeys: openParticipantKeys({ ...copies, listed: statuses.peek }),
    statuses,
    directoryClock,
    statements,
    currentControls,
    standingOf: withBlocks(currentControls, standingBy(statuses)), // the only source of standing
    rejectInOutage: rejectInOutage(currentControls, clock),
    outagesOf: outagesOf(currentControls, clock),
    ...ofCell,
    findCaller: ofCell.clients.find,
  };
}

type Opened =
  & Stored
  & ReturnType<typeof openDirectory>
  & ReturnType<typeof openCases>
  & Pick<DeliverOrderDeps, "figures" | "traceAnswer">
  & { readonly pushMemory: DeliverOrderDeps["memory"] };

/** The delivery of payment orders, for requests and for the background worker. */
function openDelivery(all: Opened): DeliverOrderDeps {
  const { clients, config, keys, pushMemory: memory } = all;
  const { store, clock, steady, log, payments, metrics, figures, spans, outbox, traceAnswer } = all;
  const waitedFor = (): ReadonlySet<string> => clock() < steady() ? memory.receiversWaitedFor() : new Set();
  return {
    ...{ store, clock, steady, log, payments, metrics, figures, spans, outbox, traceAnswer, memory },
    fetch: tracedFetch(all, "bank"),
    ownSigner: () => ownSignerOf(keys),
    authUrl: config.authUrl,
    dueBanks: openDueBanks({ outbox, waitedFor }),
    circuit: openReceiverCircuit(steady),
    findBank: (bank) => clients.findBank(store, bank),
    whyHeld: whyHeldBy(all),
    random: Math.random,
    loopbackBanks: isSandbox(config),
    slots: openPushSlots(MAX_PUSHES),
    walking: new Set(),
    underWay: new Set(),
  };
}

/** What an error tells its caller. */
function openErrors(
  { config, findCaller, participantKeys: keys, site }: Opened & { readonly site: Site },
): Omit<ErrorDeps, "log" | "metrics"> {
  return {
    drawErrorPage: errorPages(site),
    explain: openExplain({ findCaller, keys }),
    traceUri: site.sandbox && config.traceDays > 0
      ? (id) => `${config.authUrl}${TRACES_PAGE_PATH}?id=${id}`
      : undefined,
    errorUri: (reason) => `${config.authUrl}${errorPath(reason)}`,
  };
}

function isSandbox({ environment }: Pick<Config, "environment">): boolean {
  return environment === "Sandbox";
}
