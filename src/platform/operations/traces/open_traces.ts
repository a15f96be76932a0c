/** Opens the parts that keep traces, and makes the traces of what the platform pushes to banks and TPPs. */
import { openTraceQueue, type TraceQueue, type TraceQueueDeps } from "./trace_queue.ts";
import { openTraceStore, type TraceStore, type TraceStoreDeps } from "./trace_store.ts";
import type { BankCode, ClientId, ConsentId, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import { explainFault, type Trace } from "./trace.ts";

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

/** The status of a trace without a response. */
const NO_RESPONSE = 0;

/** @param deps.config.traceDays how long traces are kept */
export function openTraces(
  { config, ...deps }:
    & Omit<TraceStoreDeps & TraceQueueDeps, "traces" | "keepMs">
    & { readonly config: { readonly traceDays: number } },
): Traces {
  const traces = openTraceStore({ ...deps, keepMs: config.traceDays * 86_400_000 });
  const traceQueue = openTraceQueue({ ...deps, traces });
  /** For the receiver alone. Its `route` names the receiver's address, in place of an endpoint. */
  const add = (
    { to: { clientId, orgId }, at, milliseconds, status = NO_RESPONSE }: Push,
    about: Pick<
      Trace,
      "interactionId" | "route" | "bank" | "consentId" | "paymentId" | "rejection" | "calls"
    >,
  ): void => {
    if (config.traceDays === 0) return;
    const took = Math.round(milliseconds * 10) / 10;
    const measured = { at, milliseconds: took, method: "POST", status, checks: [], passed: 0 };
    const readers = [{ clientId, isSender: true }];
    traceQueue.add({ trace: { ...measured, orgId, ...about }, readers, isProven: true });
  };
  return {
    traces,
    traceQueue,
    traceAnswer({ payment: { id: paymentId, consentId, bank }, fault, ...push }) {
      const { milliseconds, status } = push;
      const call = { to: "bank" as const, milliseconds: Math.round(milliseconds * 10) / 10 };
      add(push, {
        interactionId: crypto.randomUUID(),
        route: "payment_orders_uri",
        bank,
        consentId,
        paymentId,
        rejection: { reason: "payment_order.unusable_answer", told: explainFault(fault) },
        calls: [status === undefined ? call : { ...call, status }],
      });
    },
    tracePush({ interactionId, bank, consentId, paymentId, fault, ...push }) {
      add(push, {
        interactionId: interactionId?.toLowerCase() ?? crypto.randomUUID(),
        route: "event_notification_uri",
        bank,
        ...(consentId === undefined ? {} : { consentId }),
        ...(paymentId === undefined ? {} : { paymentId }),
        ...(fault === undefined
          ? {}
          : { rejection: { reason: "event.not_acknowledged", told: explainFault(fault) } }),
        calls: [],
      });
    },
  };
}
