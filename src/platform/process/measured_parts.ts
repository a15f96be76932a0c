/** Guards the stores, and wraps them, the fetch of the directory and the background jobs, so that their calls are measured. */
import type { Job } from "./background_work.ts";
import type { Config } from "../config/config.ts";
import { currentTrace, noteCall, noteSpan, type TracedCall } from "../../base/http/context.ts";
import type { Signer } from "../../base/http/signer_client.ts";
import { type Clock, monotonicClock, preciseClock } from "../../base/kernel/clock.ts";
import { openSpanQueue, type Span, type SpanQueue } from "../../base/observability/spans.ts";
import { type GuardedStore, guardStore, measureStore } from "../../base/store/guarded_store.ts";
import type { Key, Store } from "../../base/store/store.ts";
import type { CaseKeys } from "../evidence/data_keys/case_keys.ts";
import type { Log } from "../observed/log_events.ts";
import type { PlatformMetrics } from "../observed/metrics.ts";
import { consentRecord } from "../core/consents/consent_store.ts";
import { authorizationSessionRecord } from "../core/frontchannel/authorization_session_store.ts";
import { accessTokenRecord } from "../core/oauth/access_token_store.ts";
import { authorizationCodeRecord } from "../core/oauth/authorization_code_store.ts";
import { pushedRequestRecord } from "../core/oauth/pushed_request_store.ts";
import { paymentRecord } from "../core/payments/payment_store.ts";
import { orderHoldRecord } from "../operations/recovery/hold_store.ts";
import { bankRecord, clientRecord } from "../core/registration/client_records.ts";

/** Values that only the process that serves the platform knows. */
export interface ProcessValues {
  readonly droppedLogLines: () => number;
  /** Bytes. */
  readonly memory: () => { readonly rss: number; readonly heapUsed: number; readonly external: number };
  /** Whether commits wait for a standby of PostgreSQL. Undefined without PostgreSQL, and while it is not known. */
  readonly standby?: () => boolean | undefined;
  readonly connections?: () => { readonly open: number; readonly limit: number };
}

/** Wraps the store so that its calls are measured. */
function measured(store: Store, metrics: PlatformMetrics): Store {
  return measureStore(store, preciseClock, (operation, seconds, succeeded) => {
    metrics.observe("platform_store_duration_seconds", { operation }, seconds);
    if (!succeeded) metrics.count("platform_store_failures_total", { operation });
    const notes = currentTrace();
    if (notes?.span === undefined) return;
    const attributes = { "db.operation.name": operation };
    const span = { name: `store ${operation}`, milliseconds: seconds * 1000, attributes, failed: !succeeded };
    noteSpan(notes, span, preciseClock());
  });
}

/** Measures the calls of the signer and logs once when it fails. */
export function watchSigner(signer: Signer | undefined, metrics: PlatformMetrics, log: Log): void {
  if (signer === undefined) return;
  metrics.set("platform_signer_working", {}, 1);
  signer.watch({
    called(operation, seconds, succeeded) {
      metrics.observe("platform_signer_duration_seconds", { operation }, seconds);
      if (!succeeded) metrics.count("platform_signer_failures_total", { operation });
    },
    failing(why) {
      metrics.set("platform_signer_working", {}, 0);
      log.error("signer.failing", { why });
    },
    working(failedSeconds) {
      metrics.set("platform_signer_working", {}, 1);
      log.warn("signer.working", { failedSeconds });
    },
  });
}

/** Wraps the fetch of the directory so that its results are counted. */
export function measuredFetch(request: typeof fetch, metrics: PlatformMetrics): typeof fetch {
  return async (input, init) => {
    let result = "unreachable";
    try {
      const response = await request(input, init);
      result = response.ok || response.status === 304 ? "ok" : "rejected";
      return response;
    } finally {
      metrics.count("platform_directory_requests_total", { result });
    }
  };
}

/**
 * Wraps a fetch so that the trace and the span of the current request have its calls. A call of the background work is a
 * span of its own.
 */
export function tracedFetch(
  { fetch: request, clock, spans }: {
    readonly fetch: typeof fetch;
    readonly clock: Clock;
    readonly spans?: Pick<SpanQueue, "add"> | undefined;
  },
  to: TracedCall["to"],
): typeof fetch {
  return async (input, init) => {
    const notes = currentTrace();
    const call: TracedCall = notes === undefined ? { to } : noteCall(notes, to);
    const [start, began] = [clock(), preciseClock()];
    try {
      const response = await request(input, init);
      call.status = response.status;
      return response;
    } finally {
      const ended = preciseClock();
      call.milliseconds = Math.round(ended - began);
      const span = callSpan(call, ended - began);
      if (notes === undefined) spans?.add({ ...span, kind: "client", start });
      else noteSpan(notes, span, ended);
    }
  };
}

function callSpan({ to, status }: TracedCall, milliseconds: number): Omit<Span, "start" | "kind"> {
  const attributes = { "peer.service": to, "http.response.status_code": status };
  return { name: `call ${to}`, milliseconds, attributes, failed: status === undefined || status >= 400 };
}

/** Wraps jobs so that their passes are counted. */
export function countedJobs(jobs: Readonly<Record<string, Job>>, metrics: PlatformMetrics): readonly Job[] {
  const counted = (work: string, result: string, by = 1): void =>
    metrics.count("platform_background_passes_total", { work, result }, by);
  for (const work of Object.keys(jobs)) counted(work, "failed", 0); // an increase needs a value before it
  return Object.entries(jobs).map(([work, run]) => async (isStopped) => {
    let result = "failed";
    try {
      const done = await run(isStopped);
      result = "ok";
      return done;
    } finally {
      counted(work, result);
    }
  });
}

/** Opens the queue of spans for the configured collector; undefined if there is none. */
export function openSpans(
  { config, fetch }: { readonly config: Config; readonly fetch: typeof globalThis.fetch },
  metrics: PlatformMetrics,
): SpanQueue | undefined {
  const { spanCollector, environment, cell } = config;
  if (spanCollector === undefined) return undefined;
  return openSpanQueue({
    fetch,
    ...spanCollector,
    resource: {
      "service.name": "payment-platform",
      "service.instance.id": crypto.randomUUID(),
      "deployment.environment.name": environment,
      "platform.cell": cell,
    },
    counted: (result, by) => metrics.count("platform_spans_total", { result }, by),
  });
}

/** The store works if the data key store does too: without it no consent can be read or created. */
export function guarded(
  { store, caseKeys }: { readonly store: Store; readonly caseKeys?: CaseKeys | undefined },
  metrics: PlatformMetrics,
  log: Log,
): GuardedStore {
  const own = guardStore(measured(store, metrics), {
    elapsed: monotonicClock,
    failing: (why) => log.error("store.failing", { why }),
    working: (failedSeconds) => log.warn("store.working", { failedSeconds }),
  });
  if (caseKeys === undefined) return own;
  caseKeys.watch({
    lost: (caseId) => log.error("data_keys.lost", { caseId }),
    unknownWrapping: (wrappedBy) => log.error("wrapping_keys.unknown", { wrappedBy }),
    failing: (why) => log.error("data_keys.store_failing", { why }),
    working: (failedSeconds) => log.warn("data_keys.store_working", { failedSeconds }),
  });
  const { vault } = caseKeys.stored;
  return {
    ...own,
    isWorking: async () => (await Promise.all([own.isWorking(), vault.isWorking()])).every(Boolean),
    isFailing: () => own.isFailing() || vault.isFailing(),
  };
}

// The records that the one process of a Deno KV file keeps in memory (`base/store/entry_cache.ts`).

const KEPT: ReadonlySet<string | undefined> = new Set(
  [
    bankRecord,
    clientRecord,
    orderHoldRecord,
    accessTokenRecord,
    consentRecord,
    pushedRequestRecord,
    authorizationSessionRecord,
    authorizationCodeRecord,
    paymentRecord,
  ].map(({ name }) => name),
);

/** Whether several requests of a payment read the record of this key. */
export const isKept = ([name]: Key): boolean => KEPT.has(name);
