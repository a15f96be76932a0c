/** Facts that the checks of a request have established, for its log lines and metrics: ids only, never a credential. */

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
