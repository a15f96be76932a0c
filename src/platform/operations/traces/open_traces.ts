/** Opens the parts that keep traces, and makes the traces of what the platform pushes to banks and TPPs. */
import { openTraceQueue, type TraceQueue, type TraceQueueDeps } from "./trace_queue.ts";
import { openTraceStore, type TraceStore, type TraceStoreDeps } from "./trace_store.ts";
import type { BankCode, ClientId, ConsentId, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import type { MeasuredRequest } from "../../guards/http/trace_requests.ts";
import { explainFault, type ReadableTrace, type Trace } from "./trace.ts";

export interface Traces {
  readonly traces: TraceStore;
  readonly traceQueue: TraceQueue;
  /** Records a bank's response to a push that leaves the order undecided. Never waits and never throws. */
  readonly traceAnswer: (answer: AnsweredPush) => void;
  /** Records a push of an event to its TPP. Never waits and never throws. */
  readonly tracePush: (push: EventPush) => void;
}

/** A request of the platform to an address of a participant. */
interface Push {
  readonly to: { readonly clientId: ClientId; readonly orgId: string };
  /** When the push began, and how long it took, milliseconds. */
  readonly at: number;
  readonly milliseconds: number;
  /** Absent without a response. */
  readonly status?: number;
}

/** A push whose response leaves the order undecided. The bank learns from its trace why the order comes again. */
interface AnsweredPush extends Push {
  readonly payment: { readonly id: PaymentId; readonly consentId: ConsentId; readonly bank: BankCode };
  readonly fault: Mismatch;
}

/** A push of an event. The TPP sees in its trace what the platform got from its receiver. */
export interface EventPush extends Push {
  /** Of the request that caused the event; absent if none did. */
  readonly interactionId?: string;
  readonly bank: BankCode;
  /** Absent if the event is about no consent or payment. */
  readonly consentId?: string;
  readonly paymentId?: string;
  /** Absent if the receiver has acknowledged the event. */
  readonly fault?: Mismatch;
}

/** @param deps.config.traceDays how long traces are kept */
export function openTraces(
  { config, ...deps }:
    & Omit<TraceStoreDeps & TraceQueueDeps, "traces" | "keepMs">
    & { readonly config: { readonly traceDays: number } },
): Traces {
  const traces = openTraceStore({ ...deps, keepMs: config.traceDays * 86_400_000 });
  const traceQueue = openTraceQueue({ ...deps, traces });
  return {
    traces,
    traceQueue,
    traceAnswer(answer) {
      if (config.traceDays > 0) traceQueue.add(traceOfAnswer(answer));
    },
    tracePush(push) {
      if (config.traceDays > 0) traceQueue.add(traceOfPush(push));
    },
  };
}

function traceOfAnswer({ payment, fault, ...push }: AnsweredPush): ReadableTrace {
  const { status } = push;
  const milliseconds = tenths(push.milliseconds);
  return traceForReceiver(push, {
    interactionId: crypto.randomUUID(),
    route: "payment_orders_uri",
    bank: payment.bank,
    consentId: payment.consentId,
    paymentId: payment.id,
    rejection: { reason: "payment_order.unusable_answer", told: explainFault(fault) },
    calls: [{ to: "bank", milliseconds, ...(status === undefined ? {} : { status }) }],
  });
}

function traceOfPush(
  { interactionId, bank, consentId, paymentId, fault, ...push }: EventPush,
): ReadableTrace {
  const rejection = fault && { reason: "event.not_acknowledged", told: explainFault(fault) };
  return traceForReceiver(push, {
    interactionId: interactionId?.toLowerCase() ?? crypto.randomUUID(),
    route: "event_notification_uri",
    bank,
    ...(consentId === undefined ? {} : { consentId }),
    ...(paymentId === undefined ? {} : { paymentId }),
    ...(rejection === undefined ? {} : { rejection }),
    calls: [],
  });
}

/** The status of a trace without a response. */
const NO_RESPONSE = 0;

/** For the receiver alone. `route` names the receiver's address, in place of an endpoint. */
function traceForReceiver(
  { to: { clientId, orgId }, at, milliseconds, status = NO_RESPONSE }: Push,
  about: Omit<Trace, keyof MeasuredRequest> & { readonly route: string },
): ReadableTrace {
  const measured = { at, milliseconds: tenths(milliseconds), method: "POST", status, checks: [], passed: 0 };
  return {
    trace: { ...measured, orgId, ...about },
    readers: [{ clientId, isSender: true }],
    isProven: true,
  };
}

function tenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
