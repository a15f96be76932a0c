/** Names the jobs of the background work and gives each its parts. */
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { ApiError, isStoreFailure } from "../../base/kernel/api_error.ts";
import type { Readiness } from "../../base/observability/health.ts";
import { eraseConsents } from "../core/consents/erase_consents.ts";
import { sweepConsents } from "../core/consents/sweep_consents.ts";
import { countOrders } from "../core/payments/count_orders.ts";
import { deliverDueOrders, startDueOrders } from "../core/payments/deliver_due_orders.ts";
import { resumeHeldOrders } from "../core/payments/held_orders.ts";
import { followDirectory } from "../core/registration/current_clients.ts";
import type { Client } from "../core/registration/client.ts";
import { pacedJob } from "../events/delivery/paced_job.ts";
import { openPushSlots } from "../events/delivery/push_slots.ts";
import { countEvents } from "../events/delivery_status.ts";
import { type EventDelivery, openEventDelivery } from "../events/deliver_due_events.ts";
import type { TracedPush } from "../events/deliver_events.ts";
import { type Expiring, expiringKey, expiringStatement } from "../events/expiry.ts";
import { spreadNotices } from "../events/spread_notices.ts";
import { type NoticeJobs, openExpirySweep } from "../events/notify_expiries.ts";
import { openRewrapping } from "../evidence/data_keys/rewrap_keys.ts";
import { growLog } from "../evidence/evidence_log/grow_log.ts";
import { openErasures } from "../operations/cases/erase_case.ts";
import { finishDeletions, retireCases } from "../operations/cases/retire_cases.ts";
import { countFunnel } from "../operations/funnel/count_funnel.ts";
import { openBankJudge } from "../operations/health/judge_banks.ts";
import { openProcessNote, type ProcessNote } from "../operations/process_store.ts";
import { listHolds } from "../operations/recovery/hold_store.ts";
import { openBankWatch } from "../operations/reports/watch_banks.ts";
import { openUnsettledSearch } from "../operations/unsettled/find_unsettled.ts";
import { statementUrl } from "../core/participants/guarded_fetch.ts";
import { type CertifiedKey, certifiedKeys } from "../core/participants/participant_keys.ts";
import { statementEnd } from "../core/participants/software_statement.ts";
import type { EventPush } from "../operations/traces/open_traces.ts";
import { type BackgroundWork, backgroundWork, type Job } from "./background_work.ts";
import { countedJobs } from "./measured_parts.ts";
import type { SharedParts } from "./shared_parts.ts";

/** The background work, and its jobs one by one for runtimes with a scheduler of their own. */
export interface PlatformWork extends BackgroundWork, ReturnType<typeof jobsOf> {
  /** Resumes held orders whose bank may have them again, and pushes due orders. */
  readonly deliverDueOrders: () => Promise<number>;
  /** Pushes due events to the TPPs that subscribe to them. */
  readonly deliverEvents: () => Promise<number>;
  /** Stages notices of what ends soon, for a page of clients. */
  readonly notifyExpiries: () => Promise<number>;
  /** Stages notices about banks for every TPP. */
  readonly spreadNotices: () => Promise<number>;
}

/** What only the composition of the whole platform knows. */
interface OwnWork {
  /** Stores the time mark for the next start. */
  readonly markAge: () => Promise<number>;
  readonly readiness: () => Promise<Readiness>;
}

export function openWork(shared: SharedParts, own: OwnWork): PlatformWork {
  const { delivery, figures, log, metrics, openConsents, spans, traceQueue } = shared;
  const jobs = jobsOf(shared, own);
  const { eventDelivery, ...notices } = openEventWork(shared);
  const resume = (): Promise<number> => resumeHeldOrders(delivery);
  const deliver: Job = (isStopped) => startDueOrders(delivery, isStopped);
  const pushEvents: Job = (isStopped) => eventDelivery.start(isStopped);
  const processNote = openNote(shared, own);
  const note = processNote === undefined ? {} : { noteProcess: processNote.note };
  const paced = { ...jobs, ...notices, ...note, writeFigures: figures.writeSometimes };
  const all = countedJobs({ ...paced, resume, deliver, pushEvents, ...countingJobs(shared) }, metrics);
  const settled = (): Promise<unknown> => Promise.all([...delivery.underWay, eventDelivery.settled()]);
  const work = backgroundWork(all, settled, log);
  return {
    ...jobs,
    notifyExpiries: () => notices.notifyExpiries(() => false),
    spreadNotices: () => notices.spreadNotices(() => false),
    deliverEvents: eventDelivery.deliver,
    deliverDueOrders: async () => (await resume(), await deliverDueOrders(delivery)),
    ...work,
    async stop() {
      await work.stop();
      const newest = [traceQueue.write(), figures.write(), spans?.send(), processNote?.forget()];
      await Promise.allSettled([...newest, openConsents.stop()]); // the store has logged its failure
    },
  };
}

/** The jobs that count for operators. Without operators nobody reads it. */
function countingJobs(shared: SharedParts): Readonly<Record<string, Job>> {
  const { clients, delivery, operators, steady, store } = shared;
  if (operators === undefined) return {};
  const isDeleted = async (id: ClientId): Promise<boolean> => await clients.findDeleted(store, id) !== null;
  return {
    countOrders: countOrders({ ...delivery, unreconciled: () => listHolds(store) }),
    findUnsettled: openUnsettledSearch(shared),
    countEvents: pacedJob(steady, () => countEvents({ ...shared, isDeleted })),
  };
}

/** Undefined if operators do not see this process among the others. */
function openNote(shared: SharedParts, { readiness }: OwnWork): ProcessNote | undefined {
  const { admission, identity, ownKeyRing: { signer } } = shared;
  if (identity === undefined) return undefined;
  return openProcessNote({
    ...shared,
    identity,
    readiness,
    lanes: admission.state,
    signingKid: () => signer.kid,
  });
}

function jobsOf(shared: SharedParts, { markAge }: OwnWork) {
  const { caseKeys, clients, config, delivery, figures, keptTime, log, receiptSigner } = shared;
  const { spans, statuses, store, traceQueue, traces } = shared;
  const deps = { ...config, ...delivery, ...shared };
  const ofLog = { ...deps, signer: shared.ownKeyRing.signer, log: shared.evidenceLog };
  return {
    followDirectory: () => followDirectory(statuses, clients, store, delivery.random),
    /** Records the consents whose deadlines have passed. */
    sweepConsents: () => sweepConsents(deps),
    /** Deletes the personal data of consents that were never authorised. */
    eraseConsents: () => eraseConsents({ ...deps, keptNow: keptTime.now }),
    /** Wraps data keys with the newest key of the platform, if it wraps them. */
    ...(caseKeys === undefined ? {} : { rewrapKeys: openRewrapping({ ...caseKeys.stored, log }) }),
    /** Completes erasures that a process has left unfinished. */
    finishErasures: openErasures(deps),
    /** Lets the time by which retention periods are judged follow the clock. */
    followTime: () => keptTime.follow(),
    /** Erases and deletes cases whose retention periods have passed. */
    retireCases: () => retireCases(deps),
    /** Completes deletions that a process has left unfinished. */
    finishDeletions: () => finishDeletions(deps),
    /** Gives new evidence its place in the log. */
    growLog: () => growLog(ofLog),
    writeTraces: () => traceQueue.write(),
    /** Merges the runs by which traces are found. */
    mergeTraceRuns: () => traces.merge(),
    ...(spans === undefined ? {} : { sendSpans: spans.send }),
    writeFigures: () => figures.write(),
    /** Counts the funnel from the histories of cases that have not ended. */
    countFunnel: () => countFunnel(deps),
    /** Notes once a minute which banks are not available. */
    watchBanks: openBankWatch({ ...deps, circuit: delivery.circuit }),
    /** Judges each bank by the last pushes of all processes, and stages the notice of a change. */
    judgeBanks: openBankJudge(deps),
    /** Stores the key that signs receipts, so that every cell can verify them when it is no longer published. */
    storeReceiptKey: async () => (await receiptSigner(), 0),
    markAge,
  };
}

/** Limits of pushes of events in one process, apart from those of orders. */
const MAX_PUSHES = { perReceiver: 10, total: 100 };

function openEventWork(shared: SharedParts): NoticeJobs & { readonly eventDelivery: EventDelivery } {
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
