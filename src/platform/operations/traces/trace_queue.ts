/**
 * Collects the traces of answered requests in memory. A background job stores them in batches, so that no request waits
 * for its trace. Token buckets bound what one caller can add, so that a flood neither fills the store nor displaces the
 * traces of others (Decision O4).
 */
import { openLimiter } from "../../../base/kernel/recently_used.ts";
import type { SteadyClock } from "../../../base/kernel/clock.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import type { RatePolicy } from "../../config/rate_policies.ts";
import type { TraceStore } from "./trace_store.ts";
import type { ReadableTrace } from "./trace.ts";

export interface TraceQueue {
  /** Adds the trace, or drops it. Never waits and never throws. */
  add(trace: ReadableTrace): void;
  /** Stores what was added before, and returns how many traces that were. @throws {StoreFailure} */
  write(): Promise<number>;
}

/** Limits of the traces that one process keeps of a caller. */
export const TRACE_POLICIES = {
  /** Requests that were not rejected. Rate limits bound them too. */
  answered: { perSecond: 20, burst: 500 },
  /** Rejected requests of a proven client. */
  rejected: { perSecond: 0.2, burst: 200 },
  /** Rejected steps of browsers that belong to a client. Anyone can open an address of a bank. */
  browser: { perSecond: 0.2, burst: 200 },
  /** All requests that belong to no client, together. */
  unknown: { perSecond: 0.1, burst: 100 },
} as const satisfies Readonly<Record<string, RatePolicy>>;

const MAX_QUEUED = 2000;

/** With the largest traces and all their list entries, below the limits of one commit of every store. */
const MAX_BATCH = 40;

/** Of each kind. */
const MAX_CALLERS = 10_000;

export interface TraceQueueDeps {
  readonly traces: Pick<TraceStore, "write">;
  /** Never goes back. */
  readonly steady: SteadyClock;
  readonly metrics: Pick<PlatformMetrics, "count">;
}

export function openTraceQueue({ traces, steady, metrics }: TraceQueueDeps): TraceQueue {
  const limits = new Map(
    Object.entries(TRACE_POLICIES).map((
      [kind, policy],
    ) => [kind, openLimiter({ ...policy, maxKeys: MAX_CALLERS }, steady)]),
  );
  const queue: ReadableTrace[] = [];
  let writing = Promise.resolve(0); // one after the other, so that the end of the last one is the end of all
  const counted = (result: string, by: number): void => {
    if (by > 0) metrics.count("platform_traces_total", { result }, by);
  };
  return {
    add(trace) {
      const kind = tracePolicy(trace);
      const caller = `${trace.isProven ? "client" : "browser"} ${trace.readers[0]?.clientId ?? ""}`;
      if (limits.get(kind)?.take(caller) !== 0) return counted("limited", 1);
      queue.push(trace);
      if (queue.length > MAX_QUEUED) {
        queue.shift();
        counted("dropped", 1);
      }
    },
    write: () => writing = writing.catch(() => 0).then(writeQueued),
  };
  async function writeQueued(): Promise<number> {
    let written = 0;
    for (let due = queue.length; due > 0; due -= MAX_BATCH) {
      const batch = queue.splice(0, Math.min(due, MAX_BATCH));
      await traces.write(batch).catch((error: unknown) => {
        counted("dropped", batch.length);
        throw error;
      });
      counted("written", batch.length);
      written += batch.length;
    }
    return written;
  }
}

function tracePolicy({ trace, readers, isProven }: ReadableTrace): keyof typeof TRACE_POLICIES {
  if (readers.length === 0) return "unknown";
  if (trace.rejection === undefined) return "answered";
  return isProven ? "rejected" : "browser";
}
