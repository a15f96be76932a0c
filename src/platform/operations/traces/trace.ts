/** The trace of a request: who sent it, which checks it passed, and why it was rejected. */
import type {
  ReceivedJwt,
  RequestFacts,
  TracedCall,
  TracedRejection,
  TraceNotes,
  TraceReader,
} from "../../../base/http/context.ts";
import type { MeasuredRequest } from "../../guards/http/trace_requests.ts";
import { explanation, type Mismatch } from "../../../base/kernel/result.ts";

/** A fault in one place of a request, as the answer told it. */
export interface TraceFault {
  readonly code: string;
  readonly path?: string;
  readonly message: string;
}

export interface TraceRejection {
  readonly reason: string;
  /** The documented reason that was told, if it differs. */
  readonly toldReason?: string;
  /** The explanation that was given, with the received value masked. */
  readonly told?: string;
  readonly faults?: readonly TraceFault[];
  /** For the operator. */
  readonly detail?: string;
}

export interface Trace extends MeasuredRequest {
  readonly interactionId: string;
  /** The client that is authenticated, or that the certificate proves. */
  readonly clientId?: string;
  readonly orgId?: string;
  readonly bank?: string;
  readonly consentId?: string;
  readonly paymentId?: string;
  readonly sessionId?: string;
  readonly rejection?: TraceRejection;
  /** The content of the JWTs of a rejected request, in a sandbox. */
  readonly received?: readonly ReceivedJwt[];
  readonly calls: readonly TracedCall[];
}

/** A trace, and who may read it. */
export interface ReadableTrace {
  readonly trace: Trace;
  /** The client whose request it was, and clients whose customer's step it was. Operators may read every trace. */
  readonly readers: readonly TraceReader[];
  /** Whether a certificate or a token proves the client. */
  readonly isProven: boolean;
}

/** A request has at most this many faults in its trace. */
const MAX_FAULTS = 10;

const MAX_DETAIL_CHARACTERS = 300;

/** Makes the trace of a request that has been answered. */
export function traceOf(facts: RequestFacts, notes: TraceNotes, measured: MeasuredRequest): ReadableTrace {
  const { clientId = notes.provenClient, orgId, bank, consentId, paymentId } = facts;
  const { sessionId, rejection, received = [] } = notes;
  const trace: Trace = {
    interactionId: facts.interactionId.toLowerCase(),
    ...measured,
    ...omitUndefined({ clientId, orgId, bank, consentId, paymentId, sessionId }),
    ...(rejection === undefined ? {} : { rejection: traceRejection(rejection) }),
    ...(rejection === undefined || received.length === 0 ? {} : { received }),
    calls: notes.calls.map((call) => ({ ...call })), // one may end later
  };
  const own = clientId === undefined ? [] : [{ clientId, isSender: true } as TraceReader];
  return { trace, readers: [...own, ...notes.readers], isProven: clientId !== undefined };
}

/** Returns the trace as a reader sees it that did not send the message: without what was wrong with it. */
export function asBystander({ rejection, received: _, ...trace }: Trace): Trace {
  return rejection === undefined ? trace : { ...trace, rejection: { reason: rejection.reason } };
}

function traceRejection(rejection: TracedRejection): TraceRejection {
  const { reason, toldReason, fault, faults, detail } = rejection;
  return {
    reason,
    ...omitUndefined({ toldReason, detail: detail?.slice(0, MAX_DETAIL_CHARACTERS) }),
    ...(fault === undefined ? {} : { told: explainFault(fault) }),
    ...(faults === undefined ? {} : { faults: faults.slice(0, MAX_FAULTS) }),
  };
}

/** Returns the members that are not undefined. */
function omitUndefined<T extends Readonly<Record<string, string | undefined>>>(
  members: T,
): { readonly [Name in keyof T]?: string } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof T]?: string;
  };
}

/** Returns the words for a fault. A received value may be a credential or personal, and the trace is kept for days. */
export function explainFault({ at, expected, received }: Mismatch): string {
  return explanation(
    received === undefined ? { at, expected } : { at, expected, received: maskedText(received) },
  );
}

/** Parts of tokens, codes, JWTs and addresses. */
const WORDS = /[A-Za-z0-9+_~=-]+/g;
const EMAILS = /[^\s'"@]+@[^\s'"@]+/g;
const NUMBERS = /[A-Za-z]{0,2}[0-9](?:[ -]?[A-Za-z0-9]){6,}/g;
/** Key ids (27 characters, SHA-1) are shown; no credential of the platform is as short. */
const MAX_SHOWN_CHARACTERS = 31;

/**
 * Returns the text with its long words, numbers and e-mail addresses cut to four characters. Ids of clients, consents,
 * payments and sessions remain, because they are what a reader compares.
 */
export function maskedText(text: string): string {
  return text.split(IDS).map((part, index) => index % 2 === 1 ? part : maskText(part)).join("");
}

const IDS = /((?:SC-)?\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)/;

function maskText(text: string): string {
  return text.replaceAll(EMAILS, cut)
    .replaceAll(WORDS, (word) => word.length > MAX_SHOWN_CHARACTERS ? cut(word) : word)
    .replaceAll(NUMBERS, (number) => isNumberLike(number) ? cut(number) : number);
}

/** Account and telephone numbers have at least seven digits, and more digits than letters. */
function isNumberLike(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]/g, "").length;
  return digits >= 7 && digits > text.replaceAll(/[^A-Za-z]/g, "").length;
}

function cut(text: string): string {
  return `${text.slice(0, 4)}...`;
}
