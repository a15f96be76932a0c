/** Wraps the store, the fetch of the directory and the background jobs, so that their calls are measured. */
import type { Job } from "./background_work.ts";
import { currentTrace } from "../base/http/aside.ts";
import { noteCall, type TracedCall } from "../base/http/request_trace.ts";
import { monotonicClock, preciseClock } from "../base/kernel/clock.ts";
import { measureStore } from "../base/store/measured_store.ts";
import type { Store } from "../base/store/store.ts";
import type { PlatformMetrics } from "./metrics.ts";

/** Values that only the process that serves the platform knows. */
export interface ProcessValues {
  readonly droppedLogLines: () => number;
  /** Bytes. */
  readonly memory: () => { readonly rss: number; readonly heapUsed: number; readonly external: number };
  readonly connections?: () => { readonly open: number; readonly limit: number };
}

/** Wraps the store so that its calls are measured. */
export function measured(store: Store, metrics: PlatformMetrics): Store {
  return measureStore(store, preciseClock, (operation, seconds, succeeded) => {
    metrics.observe("platform_store_duration_seconds", { operation }, seconds);
    if (!succeeded) metrics.count("platform_store_failures_total", { operation });
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

/** Wraps a fetch so that the trace of the current request has its calls. */
export function tracedFetch(request: typeof fetch, to: TracedCall["to"]): typeof fetch {
  return async (input, init) => {
    const notes = currentTrace();
    if (notes === undefined) return await request(input, init);
    const [call, began] = [noteCall(notes, to), monotonicClock()];
    try {
      const response = await request(input, init);
      call.status = response.status;
      return response;
    } finally {
      call.milliseconds = monotonicClock() - began;
    }
  };
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
