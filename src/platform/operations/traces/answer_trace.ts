/**
 * The trace of a bank's response to a pushed order that decides nothing, so that the bank learns from it why the order
 * comes again or why an operator asks about it. No I/O.
 */
import type { BankCode, ClientId, ConsentId, PaymentId } from "../../../base/kernel/identifiers.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import { explainFault, type ReadableTrace } from "./trace.ts";

/** A push whose response leaves the order undecided. */
export interface AnsweredPush {
  readonly payment: { readonly id: PaymentId; readonly consentId: ConsentId; readonly bank: BankCode };
  /** The bank. */
  readonly to: { readonly clientId: ClientId; readonly orgId: string };
  /** When the push began, and how long it took, milliseconds. */
  readonly at: number;
  readonly milliseconds: number;
  /** Absent without a response. */
  readonly status?: number;
  readonly fault: Mismatch;
}

/** In place of the endpoint: the request went from the platform to this address of the bank. */
const PUSH_ROUTE = "payment_orders_uri";

/** Makes the trace, for the bank alone. */
export function traceOfAnswer({ payment, to, at, milliseconds, status, fault }: AnsweredPush): ReadableTrace {
  const { clientId, orgId } = to;
  const took = Math.round(milliseconds * 10) / 10;
  const trace = {
    interactionId: crypto.randomUUID(),
    at,
    milliseconds: took,
    method: "POST",
    route: PUSH_ROUTE,
    status: status ?? NO_RESPONSE,
    checks: [],
    passed: 0,
    orgId,
    bank: payment.bank,
    consentId: payment.consentId,
    paymentId: payment.id,
    rejection: { reason: "payment_order.unusable_answer", told: explainFault(fault) },
    calls: [{ to: "bank" as const, milliseconds: took, ...(status === undefined ? {} : { status }) }],
  };
  return { trace, readers: [{ clientId, isSender: true }], isProven: true };
}

/** The status of a trace without a response. */
const NO_RESPONSE = 0;
