/** Names the jobs of the background work and gives each its parts. */
import { type BackgroundWork, backgroundWork, type Job } from "./background_work.ts";
import type { Shared, TimedParts } from "./compose_parts.ts";
import { type EraseCaseDeps, openErasures } from "../operations/cases/erase_case.ts";
import { type KeptTime, openKeptTime } from "../operations/cases/kept_time.ts";
import { finishDeletions, retireCases } from "../operations/cases/retire_cases.ts";
import { openControlsStore } from "../guards/security/controls_store.ts";
import { openRewrapping } from "../evidence/data_keys/rewrap_keys.ts";
import { eraseConsents } from "../core/consents/erase_consents.ts";
import { sweepConsents } from "../core/consents/sweep_consents.ts";
import { growLog } from "../evidence/evidence_log/grow_log.ts";
import { type LogStore, openLogStore } from "../evidence/evidence_log/log_store.ts";
import { countedJobs } from "./measured_parts.ts";
import { pacedJob } from "../events/delivery/paced_job.ts";
import { countEvents } from "../events/delivery_status.ts";
import { countOrders } from "../core/payments/count_orders.ts";
import { deliverDueOrders, startDueOrders } from "../core/payments/deliver_due_orders.ts";
import { resumeHeldOrders } from "../core/payments/held_orders.ts";
import { openUnsettledSearch } from "../operations/unsettled/find_unsettled.ts";
import { openDisputeStore } from "../core/disputes/dispute_store.ts";
import { openUnsettledStore } from "../operations/unsettled/unsettled_store.ts";
import { openBankHealthStore } from "../operations/health/bank_health_store.ts";
import { openBankJudge } from "../operations/health/judge_banks.ts";
import { openPushNoteStore } from "../operations/health/push_note_store.ts";
import { openNoticeSpreadStore } from "../events/notice_spread_store.ts";
import { countFunnel } from "../operations/funnel/count_funnel.ts";
import { openBankWatch } from "../operations/reports/watch_banks.ts";
import { isHeldIn, openHoldStore } from "../operations/recovery/hold_store.ts";
import { openReceiptSigner } from "../core/receipts/receipt_keys.ts";
import { followDirectory } from "../core/registration/current_clients.ts";
import type { NoticeJobs } from "../events/notify_expiries.ts";
import type { EventDelivery } from "../events/deliver_due_events.ts";
import { openProcessNote, type ProcessNote } from "../operations/note_process.ts";
import { openProcessStore } from "../operations/process_store.ts";
import type { Readiness } from "../../base/observability/health.ts";
import type { SpanQueue } from "../../base/observability/spans.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { Log } from "../observed/log_events.ts";

/** The background work, and its jobs one by one for runtimes with a scheduler of their own. */
export interface PlatformWork extends BackgroundWork {
  /** Reads changes from the directory. */
  readonly followDirectory: () => Promise<number>;
  /** Resumes held orders whose bank may have them again, and pushes due orders. */
  readonly deliverDueOrders: () => Promise<number>;
  /** Pushes due events to the TPPs that subscribe to them. */
  readonly deliverEvents: () => Promise<number>;
  /** Stages notices of what ends soon, for a page of clients. */
  readonly notifyExpiries: () => Promise<number>;
  /** Stages notices about banks for every TPP. */
  readonly spreadNotices: () => Promise<number>;
  /** Records the consents whose deadlines have passed. */
  readonly sweepConsents: () => Promise<number>;
  /** Deletes the personal data of consents that were never authorised. */
  readonly eraseConsents: () => Promise<number>;
  /** Completes erasures that a process has left unfinished. */
  readonly finishErasures: () => Promise<number>;
  /** Lets the time by which retention periods are judged follow the clock. */
  readonly followTime: () => Promise<number>;
  /** Erases and deletes cases whose retention periods have passed. */
  readonly retireCases: () => Promise<number>;
  /** Completes deletions that a process has left unfinished. */
  readonly finishDeletions: () => Promise<number>;
  /** Gives new evidence its place in the log. */
  readonly growLog: () => Promise<number>;
  /** Stores the traces of answered requests. */
  readonly writeTraces: () => Promise<number>;
  /** Merges the runs by which traces are found. */
  readonly mergeTraceRuns: () => Promise<number>;
  /** Sends spans to the collector, if there is one. */
  readonly sendSpans?: () => Promise<number>;
  /** Stores the figures of reports. */
  readonly writeFigures: () => Promise<number>;
  /** Counts the funnel from the histories of cases that have not ended. */
  readonly countFunnel: () => Promise<number>;
  /** Notes once a minute which banks are not available. */
  readonly watchBanks: () => Promise<number>;
  /** Judges each bank by the last pushes of all processes, and stages the notice of a change. */
  readonly judgeBanks: () => Promise<number>;
  /** Stores the key that signs receipts, so that every cell can verify them when it is no longer published. */
  readonly storeReceiptKey: () => Promise<number>;
  /** Stores the time mark for the next start. */
  readonly markAge: () => Promise<number>;
}

type WorkParts =
  & Pick<PlatformWork, "markAge">
  & Pick<
    TimedParts,
    "store" | "clock" | "steady" | "monotonic" | "keys" | "config" | "operators" | "caseKeys" | "identity"
  >
  & {
    readonly log: Log;
    readonly spans: SpanQueue | undefined;
    readonly readiness: () => Promise<Readiness>;
  };

export function composeWork(
  parts: WorkParts,
  shared: Shared,
  { eventDelivery, ...notices }: NoticeJobs & { readonly eventDelivery: EventDelivery },
): PlatformWork {
  const { delivery, traceQueue, figures, openConsents } = shared;
  const jobs = jobsOf(parts, shared);
  const resume = (): Promise<number> => resumeHeldOrders(delivery);
  const deliver: Job = (isStopped) => startDueOrders(delivery, isStopped);
  const pushEvents: Job = (isStopped) => eventDelivery.start(isStopped);
  const processNote = processNoteOf(parts, shared);
  const note = processNote === undefined ? {} : { noteProcess: processNote.note };
  const paced = { ...jobs, ...notices, ...note, writeFigures: figures.writeSometimes };
  const all = countedJobs(
    { ...paced, resume, deliver, pushEvents, ...countingJobs(parts, shared) },
    delivery.metrics,
  );
  const settled = (): Promise<unknown> => Promise.all([...delivery.underWay, eventDelivery.settled()]);
  const work = backgroundWork(all, settled, parts.log);
  return {
    ...jobs,
    notifyExpiries: () => notices.notifyExpiries(() => false),
    spreadNotices: () => notices.spreadNotices(() => false),
    deliverEvents: eventDelivery.deliver,
    deliverDueOrders: async () => (await resume(), await deliverDueOrders(delivery)),
    ...work,
    async stop() {
      await work.stop();
      const newest = [traceQueue.write(), figures.write(), parts.spans?.send(), processNote?.forget()];
      await Promise.allSettled([...newest, openConsents.stop()]); // the store has logged its failure
    },
  };
}

/** The jobs that count for operators. Without operators nobody reads it. */
function countingJobs(parts: WorkParts, shared: Shared): Readonly<Record<string, Job>> {
  const { clients, delivery } = shared;
  const isDeleted = async (id: ClientId): Promise<boolean> =>
    await clients.findDeleted(parts.store, id) !== null;
  return parts.operators === undefined ? {} : {
    countOrders: countOrders({ ...delivery, unreconciled: openHoldStore(parts.store).all }),
    findUnsettled: openUnsettledSearch({
      ...parts,
      ...shared,
      metrics: delivery.metrics,
      unsettled: openUnsettledStore(parts.store),
      disputes: openDisputeStore(parts.store),
      unsettledMs: parts.config.unsettledHours * 3_600_000,
    }),
    countEvents: pacedJob(
      delivery.steady,
      () => countEvents({ ...parts, ...shared, metrics: delivery.metrics, isDeleted }),
    ),
  };
}

/** Undefined if operators do not see this process among the others. */
function processNoteOf(parts: WorkParts, { admission, figures }: Shared): ProcessNote | undefined {
  const { identity, store, keys } = parts;
  if (identity === undefined) return undefined;
  return openProcessNote({
    ...parts,
    identity,
    processes: openProcessStore(store),
    lanes: admission.state,
    figures,
    signingKid: () => keys.signer.kid,
  });
}

type Jobs = Omit<
  PlatformWork,
  | "deliverDueOrders"
  | "deliverEvents"
  | "notifyExpiries"
  | "spreadNotices"
  | "startWork"
  | "workOnce"
  | "stop"
>;

function jobsOf(parts: WorkParts, shared: Shared): Jobs {
  const { delivery, statuses, clients, consents, traces, traceQueue, figures } = shared;
  const { store, clock, config, caseKeys, keys: { signer } } = parts;
  const origin = { issuer: config.authUrl, cell: config.cell };
  const evidence = { store, clock, signer, origin, log: openLogStore(store) };
  const receiptSigner = openReceiptSigner(parts);
  const holds = openHoldStore(store);
  const isHeld = isHeldIn(holds);
  const keptTime = openKeptTime({ ...parts, evidenceLog: evidence.log });
  return {
    followDirectory: () => followDirectory(statuses, clients, store, delivery.random),
    sweepConsents: () => sweepConsents({ ...parts, consents, random: delivery.random }),
    eraseConsents: () =>
      eraseConsents({ ...parts, consents, isHeld, keptNow: keptTime.now, random: delivery.random }),
    ...(caseKeys === undefined ? {} : { rewrapKeys: openRewrapping({ ...caseKeys.stored, log: parts.log }) }),
    ...caseJobs(parts, { delivery, consents, isHeld, keptTime }, evidence.log),
    growLog: () => growLog(evidence),
    writeTraces: () => traceQueue.write(),
    mergeTraceRuns: () => traces.merge(),
    ...(parts.spans === undefined ? {} : { sendSpans: parts.spans.send }),
    writeFigures: () => figures.write(),
    countFunnel: () => countFunnel({ ...parts, ...shared, metrics: delivery.metrics }),
    ...bankJobs(parts, shared),
    storeReceiptKey: async () => (await receiptSigner(), 0),
    markAge: parts.markAge,
  };
}

/** The jobs that look at the banks. */
function bankJobs(parts: WorkParts, shared: Shared): Pick<PlatformWork, "watchBanks" | "judgeBanks"> {
  const { store, config: { authUrl } } = parts;
  const health = openBankHealthStore(store);
  const deps = { ...parts, ...shared, health, authUrl };
  return {
    watchBanks: openBankWatch({ ...deps, circuit: shared.delivery.circuit, holds: openHoldStore(store) }),
    judgeBanks: openBankJudge({
      ...deps,
      pushNotes: openPushNoteStore(store),
      stageNotice: openNoticeSpreadStore(store).stage,
    }),
  };
}

/** The jobs that go through cases: erase and delete them, and list them. */
function caseJobs(
  parts: WorkParts,
  { delivery, consents, isHeld, keptTime }:
    & Pick<Shared, "delivery" | "consents">
    & Pick<EraseCaseDeps, "isHeld">
    & { readonly keptTime: KeptTime },
  evidenceLog: LogStore,
): Pick<PlatformWork, "finishErasures" | "followTime" | "retireCases" | "finishDeletions"> {
  const { keepCasesDays, eraseCasesDays, deleteHistoriesDays } = parts.config;
  const deps = {
    ...parts,
    ...delivery,
    consents,
    caseKeys: parts.caseKeys,
    isHeld,
    keptTime,
    keepCasesMs: keepCasesDays * 86_400_000,
    evidenceLog,
    disputes: openDisputeStore(parts.store),
    eraseCasesDays,
    deleteHistoriesDays,
    controls: openControlsStore(),
  };
  return {
    finishErasures: openErasures(deps),
    followTime: () => keptTime.follow(),
    retireCases: () => retireCases(deps),
    finishDeletions: () => finishDeletions(deps),
  };
}
