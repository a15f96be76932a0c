/**
 * The variables that every request has, what is known of it, and its place in the admission control. Ids and fixed
 * words only, never a credential.
 */
import type { Place } from "./fair_lane.ts";
import type { RequestReads } from "../store/request_reads.ts";
import type { ReplayRecords } from "../store/transaction.ts";
import type { Mismatch } from "../kernel/result.ts";
import type { ErrorReason, Fault } from "../kernel/api_error.ts";
import type { ClientId } from "../kernel/identifiers.ts";
import type { Span } from "../observability/spans.ts";
import { tryGetContext } from "hono/context-storage";

/**
 * The reader of a response, which decides the response's form: an OAuth client, a resource client, or a person's
 * browser.
 */
export type Surface = "oauth" | "resource" | "browser";

/** Variables set before any route runs. */
export interface RequestVariables {
  surface: Surface;
  /** `x-fapi-interaction-id`: the caller's value if it is a UUID, else a new one. */
  interactionId: string;
  /** The facts about the request that are known so far, for log lines and metrics. */
  facts: RequestFacts;
  /** Details of its trace beyond the facts. */
  trace: TraceNotes;
  /** How many checks of the endpoint have passed. Absent before the first one. */
  passed?: number;
  /** Replay records to be committed with the request's effect (`base/store/transaction.ts`). */
  replayRecords: ReplayRecords;
  /** The entries that this request has read. */
  reads: RequestReads;
  /** The request's place in the admission control. */
  place: Place;
}

/** Hono's environment for an app whose routes need no other variables. */
export interface RequestEnv {
  Variables: RequestVariables;
}

/** Filled in by the checks. Each member is absent until it is proven or known to be well-formed. */
export interface RequestFacts {
  readonly interactionId: string;
  /** Trace id of the caller's `traceparent` (W3C Trace Context), 32 hexadecimal digits. */
  readonly traceId?: string;
  /** SHA-256 of the certificate's SubjectPublicKeyInfo, base64url. */
  certificate?: string;
  /** The authenticated client and its organisation. */
  clientId?: string;
  orgId?: string;
  bank?: string;
  consentId?: string;
  paymentId?: string;
}

const TRACE_PARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the trace id of a `traceparent` header, or undefined if it is malformed (W3C Trace Context §3.2). */
export function traceIdOf(traceParent: string | undefined): string | undefined {
  return TRACE_PARENT.exec(traceParent ?? "")?.[1];
}

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
  /** How long it took without that wait, milliseconds: what its figures count. */
  measuredMs?: number;
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

/** Runs `wait`. Meanwhile the current request has released its place, and it takes one again afterwards. */
export async function releasePlaceWhile<T>(wait: () => Promise<T>): Promise<T> {
  const place = currentPlace();
  return await (place === undefined ? wait() : place.releaseWhile(wait));
}

/** Returns the place of the current request, or undefined in background work. */
export function currentPlace(): Place | undefined {
  return tryGetContext<RequestEnv>()?.get("place");
}

/** Returns what is known of the current request, or undefined in background work. */
export function currentFacts(): RequestFacts | undefined {
  return tryGetContext<RequestEnv>()?.get("facts");
}

/** Returns the notes for the trace of the current request, or undefined in background work. */
export function currentTrace(): TraceNotes | undefined {
  return tryGetContext<RequestEnv>()?.get("trace");
}

// Keeps what a request's JWTs say for its trace, in a sandbox only (contract TRC12).

/** Of one trace. With their lengths they bound a trace, because many are stored in one commit. */
const MAX_JWTS = 3;
const MAX_TOKEN_CHARACTERS = 32_768;
const MAX_PART_CHARACTERS = 1800;
const MAX_VALUE_CHARACTERS = 120;

/**
 * Notes a JWT or a detached signature that a check is about to verify. Has no effect outside of a sandbox.
 *
 * @param name as faults name it
 */
export function noteReceived(name: string, token: string | undefined): void {
  const received = currentTrace()?.received;
  if (received === undefined || token === undefined || token.length > MAX_TOKEN_CHARACTERS) return;
  const [header, claims] = token.split(".", 2).map(decodeSegment);
  if (header === undefined || received.length >= MAX_JWTS) return;
  const jwt: ReceivedJwt = { name, header, ...(claims === undefined ? {} : { claims }) };
  received.push(jwt);
}

function decodeSegment(segment: string): string | undefined {
  try {
    const bytes = Uint8Array.fromBase64(segment, { alphabet: "base64url" });
    const text = JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), shortenValue, 2);
    return text.length <= MAX_PART_CHARACTERS ? text : `${text.slice(0, MAX_PART_CHARACTERS)}\n...`;
  } catch {
    return undefined; // the fault says so
  }
}

/** Long values, such as keys and statements, hide the others. */
function shortenValue(_name: string, value: unknown): unknown {
  return typeof value === "string" && value.length > MAX_VALUE_CHARACTERS
    ? `${value.slice(0, 20)}... (${value.length} characters)`
    : value;
}
