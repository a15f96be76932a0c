/** Notes of the checks of a request for its trace, beyond its facts. Ids and fixed words only, never a credential. */
import type { Mismatch } from "../kernel/result.ts";
import type { ErrorReason, Fault } from "../kernel/api_error.ts";
import type { ClientId } from "../kernel/identifiers.ts";
import type { Span } from "../observability/spans.ts";

/** A call of the platform to another party while the request was handled. */
export interface TracedCall {
  readonly to: "bank" | "directory";
  /** Milliseconds. Absent if the call had not ended with the request. */
  milliseconds?: number;
  /** Absent without a response. */
  status?: number;
}

/** Why the request was rejected, or why what it brought had no effect. */
export interface TracedRejection {
  readonly reason: ErrorReason | "platform.failed" | "bank_return.unusable";
  /** The documented reason that was told, if it differs. */
  readonly toldReason?: ErrorReason;
  /** The explanation that a proven caller was given. */
  readonly fault?: Mismatch;
  readonly faults?: readonly Fault[];
  /** For the operator. */
  readonly detail?: string;
}

/** A client that may read the trace of a request that it did not send itself, such as a step of its customer. */
export interface TraceReader {
  readonly clientId: ClientId;
  /** Whether the message that the request brought is this client's, so that it may read what was wrong with it. */
  readonly isSender: boolean;
}

export interface TraceNotes {
  /** The client that the certificate proves, for a request that was rejected before it was authenticated. */
  provenClient?: ClientId;
  /** The authorization session. */
  sessionId?: string;
  /** For how long the caller has let its answer wait, milliseconds. */
  waitedMs?: number;
  rejection?: TracedRejection;
  readonly readers: TraceReader[];
  readonly calls: TracedCall[];
  /** Sandbox only. */
  received?: ReceivedJwt[];
  /** Absent if no spans are sent. */
  span?: OpenSpan;
}

/** The request's own span, which has not ended. */
interface OpenSpan {
  /** Milliseconds since the Unix epoch. */
  readonly start: number;
  /** The same moment by the monotonic clock, milliseconds. */
  readonly began: number;
  readonly below: Span[];
}

/** A JWT as it arrived, decoded and not verified. Without its signature it is no credential. */
export interface ReceivedJwt {
  /** Such as `DPoP proof`, as faults name it. */
  readonly name: string;
  /** JSON. */
  readonly header: string;
  /** JSON; absent for a detached signature. */
  readonly claims?: string;
}

export function newTraceNotes(): TraceNotes {
  return { readers: [], calls: [] };
}

/** Bounds the calls of one trace. */
const MAX_CALLS = 8;

/** Notes a call, and returns it to be completed. */
export function noteCall({ calls }: TraceNotes, to: TracedCall["to"]): TracedCall {
  const call: TracedCall = { to };
  if (calls.length < MAX_CALLS) calls.push(call);
  return call;
}

/** Bounds the spans below that of one request. */
const MAX_SPANS = 64;

/** Begins the request's span, and returns those below it, which are added until it is answered. */
export function beginSpan(notes: TraceNotes, start: number, began: number): readonly Span[] {
  const below: Span[] = [];
  notes.span = { start, began, below };
  return below;
}

/**
 * Adds a span below that of the request, which ends now.
 *
 * @param now by the monotonic clock of the request's span, milliseconds
 */
export function noteSpan({ span }: TraceNotes, ended: Omit<Span, "start" | "kind">, now: number): void {
  if (span === undefined || span.below.length >= MAX_SPANS) return;
  span.below.push({ ...ended, kind: "client", start: span.start + (now - span.began) - ended.milliseconds });
}
