/** Opens the parts that keep traces. */
import { openTraceQueue, type TraceQueue, type TraceQueueDeps } from "./trace_queue.ts";
import { openTraceStore, type TraceStore, type TraceStoreDeps } from "./trace_store.ts";

export interface Traces {
  readonly traces: TraceStore;
  readonly traceQueue: TraceQueue;
}

/** @param deps.config.traceDays how long traces are kept */
export function openTraces(
  { config, ...deps }:
    & Omit<TraceStoreDeps & TraceQueueDeps, "traces" | "keepMs">
    & { readonly config: { readonly traceDays: number } },
): Traces {
  const traces = openTraceStore({ ...deps, keepMs: config.traceDays * 86_400_000 });
  return { traces, traceQueue: openTraceQueue({ ...deps, traces }) };
}
