/** Opens the parts that keep traces. */
import { type AnsweredPush, traceOfAnswer } from "./answer_trace.ts";
import { type EventPush, traceOfPush } from "./push_trace.ts";
import { openTraceQueue, type TraceQueue, type TraceQueueDeps } from "./trace_queue.ts";
import { openTraceStore, type TraceStore, type TraceStoreDeps } from "./trace_store.ts";

export interface Traces {
  readonly traces: TraceStore;
  readonly traceQueue: TraceQueue;
  /** Records a bank's response to a push that leaves the order undecided. Never waits and never throws. */
  readonly traceAnswer: (answer: AnsweredPush) => void;
  /** Records a push of an event to its TPP. Never waits and never throws. */
  readonly tracePush: (push: EventPush) => void;
}

/** @param deps.config.traceDays how long traces are kept */
export function openTraces(
  { config, ...deps }:
    & Omit<TraceStoreDeps & TraceQueueDeps, "traces" | "keepMs">
    & { readonly config: { readonly traceDays: number } },
): Traces {
  const traces = openTraceStore({ ...deps, keepMs: config.traceDays * 86_400_000 });
  const traceQueue = openTraceQueue({ ...deps, traces });
  const traceAnswer = (answer: AnsweredPush): void => {
    if (config.traceDays > 0) traceQueue.add(traceOfAnswer(answer));
  };
  const tracePush = (push: EventPush): void => {
    if (config.traceDays > 0) traceQueue.add(traceOfPush(push));
  };
  return { traces, traceQueue, traceAnswer, tracePush };
}
