/** The trace of a push of an event to its TPP, so that the TPP sees what the platform got from its receiver. No I/O. */
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import { explainFault, type ReadableTrace } from "./trace.ts";

/** A push of an event. */
export interface EventPush {
  /** Of the request that caused the event; absent if none did. */
  readonly interactionId?: string;
  readonly to: { readonly clientId: ClientId; readonly orgId: string };
  readonly bank: BankCode;
  /** Absent if the event is about no consent or payment. */
  readonly consentId?: string;
  readonly paymentId?: string;
  /** When the push began, and how long it took, milliseconds. */
  readonly at: number;
  readonly milliseconds: number;
  /** Absent without a response. */
  readonly status?: number;
  /** Absent if the receiver has acknowledged the event. */
  readonly fault?: Mismatch;
}

/** In place of the endpoint: the request went from the platform to this address of the TPP. */
const PUSH_ROUTE = "event_notification_uri";
/** The status of a trace without a response. */
const NO_RESPONSE = 0;

/** Makes the trace, for the TPP alone. */
export function traceOfPush({ to, fault, status = NO_RESPONSE, ...push }: EventPush): ReadableTrace {
  const { clientId, orgId } = to;
  const trace = {
    interactionId: push.interactionId?.toLowerCase() ?? crypto.randomUUID(),
    at: push.at,
    milliseconds: Math.round(push.milliseconds * 10) / 10,
    method: "POST",
    route: PUSH_ROUTE,
    status,
    checks: [],
    passed: 0,
    orgId,
    bank: push.bank,
    ...(push.consentId === undefined ? {} : { consentId: push.consentId }),
    ...(push.paymentId === undefined ? {} : { paymentId: push.paymentId }),
    ...(fault === undefined
      ? {}
      : { rejection: { reason: "event.not_acknowledged", told: explainFault(fault) } }),
    calls: [],
  };
  return { trace, readers: [{ clientId, isSender: true }], isProven: true };
}
