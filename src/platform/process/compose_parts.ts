/** Builds the parts that both hosts share: stores, keys, limits, delivery. */
import type { CaseKeys } from "../evidence/data_keys/case_keys.ts";
import type { Config } from "../config/config.ts";
import { type ConsentStore, openConsentStore } from "../core/consents/consent_store.ts";
import {
  type AuthorizationSessionStore,
  openAuthorizationSessionStore,
} from "../core/frontchannel/authorization_session_store.ts";
import { ownSignerOf } from "../evidence/evidence_store.ts";
import type { ErrorDeps } from "../guards/http/on_error.ts";
import { openExplain } from "../guards/security/proven_caller.ts";
import type { TryLink } from "../../portal/api_reference.ts";
import { errorPath, TRACES_PAGE_PATH } from "../../portal/paths.ts";
import { type ClaimStore, openClaimStore } from "../guards/idempotency/idempotent.ts";
import type { Credentials } from "../../base/http/credentials.ts";
import type { Signer } from "../../base/http/signer_client.ts";
import type { KeyRing } from "../../base/jose/key_ring.ts";
import type { AgesClock, Clock, MonotonicClock, SteadyClock } from "../../base/kernel/clock.ts";
import { type AccessTokenStore, openAccessTokenStore } from "../core/oauth/access_token_store.ts";
import {
  type AuthorizationCodeStore,
  openAuthorizationCodeStore,
} from "../core/oauth/authorization_code_store.ts";
import { openPushedRequestStore, type PushedRequestStore } from "../core/oauth/pushed_request_store.ts";
import type { Probe } from "../../base/observability/health.ts";
import type { LogSink } from "../../base/observability/log.ts";
import type { SpanQueue } from "../../base/observability/spans.ts";
import type { Log } from "../observed/log_events.ts";
import { type DirectoryClock, openDirectoryClock } from "../core/participants/directory_clock.ts";
import { openDirectoryKeys } from "../core/participants/directory_keys.ts";
import { conditionalFetch, fetchStatement, guardedFetch } from "../core/participants/guarded_fetch.ts";
import { keepCopies } from "../core/participants/kept_copy_store.ts";
import { openParticipantKeys, type ParticipantKeySets } from "../core/participants/participant_keys.ts";
import type { SoftwareStatementDeps } from "../core/participants/software_statement.ts";
import { logClock } from "./process_clocks.ts";
import { openPushMemory, type PushMemory } from "../events/delivery/push_memory.ts";
import { openReceiverCircuit, type ReceiverCircuit } from "../events/delivery/receiver_circuit.ts";
import type { DeliverOrderDeps } from "../core/payments/deliver_order.ts";
import { openDueBanks } from "../core/payments/due_banks.ts";
import { openOrderOutboxStore } from "../core/payments/order_outbox_store.ts";
import { MAX_PUSHES, openPushSlots } from "../events/delivery/push_slots.ts";
import { openPaymentStore, type PaymentStore } from "../core/payments/payment_store.ts";
import { type CellClients, clientsOfCell, openCurrentClients } from "../core/registration/current_clients.ts";
import { openStatusList, standingBy, type StatusList } from "../core/participants/status_list.ts";
import {
  type CurrentControls,
  openControlsStore,
  openCurrentControls,
  type Outage,
  outagesOf,
  type RejectInOutage,
  rejectInOutage,
  withBlocks,
} from "../guards/security/controls_store.ts";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import type { StandingOf } from "../guards/security/standing.ts";
import { openClientStore } from "../core/registration/client_store.ts";
import { whyHeldBy } from "../operations/why_held.ts";
import { openHoldStore } from "../operations/recovery/hold_store.ts";
import { type Admission, openAdmission } from "../guards/http/admission.ts";
import { type Callers, openCallers } from "../guards/security/admit.ts";
import { certificateReader, type ReadCertificate } from "../guards/security/client_certificate.ts";
import { laneBounds } from "../guards/http/lane_bounds.ts";
import { openDpopVerifier, type VerifyDpopProof } from "../guards/security/dpop_proof.ts";
import {
  type BucketStore,
  openBucketStore,
  openLocalBuckets,
  openRateLimit,
  type RateLimit,
  type SharedBuckets,
} from "../guards/security/rate_limits.ts";
import { type OpenConsents, openOpenConsents } from "../core/consents/open_consents.ts";
import type { PlatformMetrics } from "../observed/metrics.ts";
import { measuredFetch, type ProcessValues, tracedFetch } from "./measured_parts.ts";
import type { ProcessIdentity } from "../operations/note_process.ts";
import type { Store } from "../../base/store/store.ts";
import { errorPages } from "../guards/http/error_routes.ts";
import type { Site } from "../../pages/site.ts";
import { openTraces, type Traces } from "../operations/traces/open_traces.ts";
import { undecidedAfterSearch } from "../operations/unsettled/unsettled_store.ts";
import { type FunnelStore, openFunnelStore } from "../observed/funnel/funnel_store.ts";
import { type FiguresParts, openFigures } from "../observed/figures/recorder.ts";
import { type EventStore, openEventStore } from "../events/event_store.ts";
import { openSubscriptionStore, type SubscriptionStore } from "../events/subscription_store.ts";

/** The inputs that differ between a test, the sandbox and production. */
export interface PlatformParts {
  readonly config: Config;
  readonly store: Store;
  /** The time of JWTs, deadlines and records, shared with participants. */
  readonly clock: Clock;
  /** Milliseconds since an arbitrary moment, never stepped: for ages and waits. */
  readonly monotonic: MonotonicClock;
  readonly fetch: typeof fetch;
  readonly log: LogSink;
  readonly keys: KeyRing;
  /** The signer that has the private keys of `keys`, if they are in a token. */
  readonly signer?: Signer | undefined;
  /** The operators with tokens of their own. Without any operators the operations API does not exist. */
  readonly operators?: Credentials | undefined;
  /** Parts of the process outside the platform, shown in its readiness. */
  readonly advisory?: Readonly<Record<string, Probe>>;
  /** Whether proxies may send requests to this process. Without it they always may. */
  readonly isServing?: () => boolean;
  /** The data keys of cases, if `store` seals personal data (`evidence/data_keys/sealed_store.ts`). */
  readonly caseKeys?: CaseKeys | undefined;
  readonly process?: ProcessValues;
  /** The sandbox's pages that try operations, which its portal links to. */
  readonly tryLink?: TryLink;
  /** Absent: operators do not see the process among the others. */
  readonly identity?: ProcessIdentity;
}

export interface TimedParts extends PlatformParts {
  readonly metrics: PlatformMetrics;
  /** Undefined if no collector of spans is configured. */
  readonly spans: SpanQueue | undefined;
  /** Like `clock`, but never goes back: for ages and waits within this process. */
  readonly steady: SteadyClock;
  /** Like `steady`, but continues over a restart: for ages of stored values. */
  readonly ages: AgesClock;
}

/** The parts that both hosts share. */
export interface Shared extends Traces, FiguresParts, CellClients {
  readonly openConsents: OpenConsents;
  /** Counts where customers are lost. */
  readonly funnel: FunnelStore;
  readonly site: Site;
  readonly participantKeys: ParticipantKeySets;
  readonly statuses: StatusList;
  readonly directoryClock: DirectoryClock;
  readonly standingOf: StandingOf;
  /** Blocks, revocations, holds and planned outages that operators have set. */
  readonly controls: CurrentControls;
  readonly rejectInOutage: RejectInOutage;
  /** Returns a bank's outages that have not ended. */
  readonly outagesOf: (bank: BankCode) => Promise<readonly Outage[]>;
  readonly statements: SoftwareStatementDeps;
  readonly trustAnchor: string;
  readonly tokens: AccessTokenStore;
  readonly codes: AuthorizationCodeStore;
  readonly requests: PushedRequestStore;
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly claims: ClaimStore;
  readonly sessions: AuthorizationSessionStore;
  readonly verifyDpop: VerifyDpopProof;
  readonly admission: Admission;
  readonly readCertificate: ReadCertificate;
  readonly callers: Callers;
  readonly limits: RateLimit;
  readonly delivery: DeliverOrderDeps;
  readonly events: EventStore;
  readonly subscriptions: SubscriptionStore;
  /** The breaker of each TPP's receiver of events. */
  readonly eventCircuit: ReceiverCircuit<ClientId, ClientId>;
  /** Of orders and events. */
  readonly pushMemory: PushMemory;
  readonly errors: Omit<ErrorDeps, "log">;
}

export function composeShared(parts: TimedParts, log: Log): Shared {
  const site = { sandbox: isSandbox(parts.config), operator: parts.config.operator };
  const { config, store, clock, steady } = parts;
  const readCertificate = certificateReader({ ...config, clock, source: config.clientCertSource });
  const callers = openCallers(readCertificate);
  const view = composeDirectoryView(parts, log);
  const events = eventStore(parts);
  const undecided = undecidedAfterSearch(clock, config.unsettledHours * 3_600_000);
  const [payments, traces] = [openPaymentStore(store, events.stage, undecided), openTraces(parts)];
  const [figures, pushMemory] = [openFigures(parts), rememberPushes(parts, log)];
  const buckets = openBucketStore({ store, clock, steady });
  return {
    ...view,
    site,
    trustAnchor: new URL(config.directoryIssuer).host,
    tokens: openAccessTokenStore(clock),
    codes: openAuthorizationCodeStore(),
    requests: openPushedRequestStore(),
    ...composeConsents(parts, buckets, events),
    payments,
    admission: openAdmission({ bounds: laneBounds(config), steady, log }),
    readCertificate,
    verifyDpop: openDpopVerifier(clock),
    callers,
    limits: limitsOf(parts, buckets, callers),
    delivery: composeDelivery({ ...parts, ...figures }, log, view, { payments, pushMemory, ...traces }),
    pushMemory,
    ...figures,
    funnel: openFunnelStore(store, config.reportDays * 86_400_000),
    ...traces,
    events,
    subscriptions: openSubscriptionStore(store),
    eventCircuit: openReceiverCircuit(steady),
    claims: openClaimStore(clock),
    sessions: openAuthorizationSessionStore(),
    errors: composeErrors(parts, site, view),
  };
}

function eventStore({ store, clock, config: { baseUrl, eventDays } }: TimedParts): EventStore {
  return openEventStore({ store, clock, keepMs: eventDays * 86_400_000, baseUrl });
}

function rememberPushes({ config, steady }: TimedParts, log: Log): PushMemory {
  return openPushMemory(steady, (seconds) => logClock(config, log, "clock.stored_ahead", seconds));
}

function limitsOf({ config, steady }: TimedParts, buckets: BucketStore, callers: Callers): RateLimit {
  const localBuckets = openLocalBuckets(steady);
  return openRateLimit({ onProven: callers.proven, buckets, localBuckets, policies: config.rateLimits });
}

function composeConsents(
  { config, store, steady }: TimedParts,
  buckets: SharedBuckets,
  events: EventStore,
): Pick<Shared, "openConsents" | "consents"> {
  const keepMs = config.keepUnauthorisedDays * 86_400_000;
  const openConsents = openOpenConsents({ buckets, steady, most: config.maxOpenConsents });
  return { openConsents, consents: openConsentStore(store, keepMs, events.stage, openConsents.giveBack) };
}

function composeErrors(
  { config, metrics }: TimedParts,
  site: Site,
  { clients, participantKeys }: DirectoryView,
): Shared["errors"] {
  return {
    metrics,
    drawErrorPage: errorPages(site),
    explain: openExplain({ findCaller: clients.find, keys: participantKeys }),
    traceUri: site.sandbox && config.traceDays > 0
      ? (id) => `${config.authUrl}${TRACES_PAGE_PATH}?id=${id}`
      : undefined,
    errorUri: (reason) => `${config.authUrl}${errorPath(reason)}`,
  };
}

function isSandbox({ environment }: Config): boolean {
  return environment === "Sandbox";
}

/** The current data of the directory: keys, standing, and the clients that its statements define. */
type DirectoryView = Pick<
  Shared,
  | "participantKeys"
  | "statuses"
  | "standingOf"
  | "controls"
  | "rejectInOutage"
  | "outagesOf"
  | "statements"
  | keyof CellClients
  | "directoryClock"
>;

function composeDirectoryView(parts: TimedParts, log: Log): DirectoryView {
  const { config, store, clock, steady, ages } = parts;
  const { directoryIssuer, environment } = config;
  const loopbackHttp = isSandbox(config);
  const urls = { allowedHosts: config.directoryHosts, loopbackHttp };
  const directoryClock = composeDirectoryClock(parts, log);
  const { fetch } = directoryClock;
  const fetchJson = guardedFetch({ fetch, ...urls });
  const keep = keepCopies({ store, clock, log });
  const statuses = openStatusList({
    fetchIfChanged: conditionalFetch({ fetch, ...urls }),
    ages,
    keep,
    log,
    url: `${directoryIssuer}/status`,
  });
  const controls = openCurrentControls(store, steady, openControlsStore());
  const copies = { fetchJson, ages, keep, log };
  const findDirectoryKey = openDirectoryKeys({ ...copies, jwksUri: config.directoryJwksUri });
  const statements = { findDirectoryKey, directoryIssuer, environment, urls };
  const stored = openClientStore();
  const following = { ...parts, log, statuses, statements };
  const current = openCurrentClients({
    ...following,
    clients: stored,
    fetchStatement: (orgId) => fetchStatement(fetchJson, directoryIssuer, orgId),
    loopbackRedirects: loopbackHttp,
  });
  return {
    participantKeys: openParticipantKeys({ ...copies, listed: statuses.peek }),
    statuses,
    directoryClock,
    standingOf: withBlocks(controls, standingBy(statuses)), // the only source of standing
    controls,
    rejectInOutage: rejectInOutage(controls, clock),
    outagesOf: outagesOf(controls, clock),
    statements,
    ...clientsOfCell(config, store, { ...stored, ...current }),
  };
}

function composeDirectoryClock(
  { fetch, metrics, clock, steady, spans }: TimedParts,
  log: Log,
): DirectoryClock {
  return openDirectoryClock({
    fetch: tracedFetch({ fetch: measuredFetch(fetch, metrics), clock, spans }, "directory"),
    clock,
    steady,
    log,
  });
}

/** Builds the delivery of payment orders, for requests and for the background worker. */
function composeDelivery(
  parts: TimedParts & FiguresParts,
  log: Log,
  view: DirectoryView,
  { payments, traceAnswer, pushMemory }: Pick<Shared, "payments" | "traceAnswer" | "pushMemory">,
): DeliverOrderDeps {
  const { config, store, clock, steady, keys } = parts;
  const outbox = openOrderOutboxStore(store);
  const waitedFor = (): ReadonlySet<string> =>
    clock() < steady() ? pushMemory.receiversWaitedFor() : new Set();
  return {
    store,
    clock,
    steady,
    log,
    payments,
    fetch: tracedFetch(parts, "bank"),
    ownSigner: () => ownSignerOf(keys),
    authUrl: config.authUrl,
    metrics: parts.metrics,
    figures: parts.figures,
    spans: parts.spans,
    outbox,
    dueBanks: openDueBanks({ outbox, waitedFor }),
    circuit: openReceiverCircuit(steady),
    findBank: (bank) => view.clients.findBank(store, bank),
    traceAnswer,
    whyHeld: whyHeldBy({ ...view, store, clock, holds: openHoldStore(store) }),
    random: Math.random,
    memory: pushMemory,
    loopbackBanks: config.environment === "Sandbox",
    slots: openPushSlots(MAX_PUSHES),
    walking: new Set(),
    underWay: new Set(),
  };
}
