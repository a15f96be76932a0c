/**
 * The error of a rejected request. Its reason comes from a closed union. `platform/guards/http/error_table.ts` decides what
 * the caller may read of it. `detail` is only logged.
 */

import { faultText, type Mismatch } from "./result.ts";

/** The reasons of every program. */
export type SharedReason =
  | "request.not_found"
  | "request.method_not_allowed"
  | "request.too_large"
  | "request.incomplete"
  | "request.malformed_form"
  | "request.unsupported_media_type"
  | "request.unsupported_content_encoding"
  | "request.rate_limited"
  | "platform.unavailable"
  | "store.unavailable";

/** The reason of a rejection: `<area>.<what>`. `platform/guards/http/error_table.ts` maps each reason to its wire form. */
export type ErrorReason =
  | SharedReason
  | "request.not_acceptable"
  | "request.header_missing"
  | "request.header_invalid"
  | "platform.overloaded"
  | "bank.unknown"
  | "bank.not_active"
  | "certificate.missing"
  | "certificate.not_participants"
  | "client.second_mechanism"
  | "client.assertion_missing"
  | "client.assertion_type_unsupported"
  | "client.not_authenticated"
  | "oauth.invalid_request"
  | "oauth.invalid_scope"
  | "oauth.unsupported_grant_type"
  | "oauth.unauthorized_client"
  | "oauth.unsupported_response_type"
  | "oauth.invalid_grant"
  | "dpop.invalid_proof"
  | "dpop.replayed"
  | "dpop.key_mismatch"
  | "token.missing"
  | "token.malformed_request"
  | "token.invalid"
  | "token.insufficient_scope"
  | "signature.missing"
  | "signature.malformed"
  | "signature.missing_claim"
  | "signature.invalid_claim"
  | "signature.invalid"
  | "idempotency.key_reused"
  | "resource.invalid_format"
  | "resource.invalid_fields"
  | "resource.not_found"
  | "resource.consent_mismatch"
  | "subscription.exists"
  | "resource.invalid_consent_status"
  | "consents.too_many_open"
  | "payment.illegal_move"
  | "registration.unsupported_media_type"
  | "registration.invalid_software_statement"
  | "registration.unapproved_software_statement"
  | "registration.invalid_redirect_uri"
  | "registration.invalid_client_metadata"
  | "authorization.invalid_request"
  | "authorization.request_uri_unusable"
  | "authorization.client_unusable"
  | "authorization.redirect_uri_unusable"
  | "bank_return.not_authentic"
  | "bank_result.not_declared"
  | "bank_result.unsupported_media_type"
  | "bank_result.unusable"
  | "interaction.finished"
  | "interaction.accepted"
  | "interaction.refused"
  | "interaction.not_yours"
  | "operations.unauthorized"
  | "operations.forbidden"
  | "operations.invalid_request"
  | "operations.not_found"
  | "operations.conflict"
  | "operations.order_unknown"
  | "operations.subscription_unknown"
  | "operations.participant_unknown"
  | "operations.order_not_dead"
  | "operations.order_may_be_at_bank"
  | "operations.not_held"
  | "operations.statement_unusable"
  | "operations.not_in_log"
  | "operations.case_unknown"
  | "operations.case_open"
  | "operations.case_retained"
  | "directory.unauthorized"
  | "directory.invalid_request"
  | "directory.conflict"
  | "directory.not_found";

/** Rejections that hint at an attack. The log has them at a level that no configuration hides. */
export type SecurityEvent =
  | "security.replay"
  | "security.code_reuse"
  | "security.certificate_mismatch"
  | "security.proof_key_mismatch"
  | "security.client_not_authenticated"
  | "security.signature_invalid"
  | "security.bank_return_not_authentic"
  | "security.session_of_another_browser";

/** The `UK.OBIE.` codes of a fault in a single field, header or JOSE claim, without the namespace. */
export type FaultCode =
  | "Field.Expected"
  | "Field.Invalid"
  | "Field.InvalidDate"
  | "Field.Missing"
  | "Field.Unexpected"
  | "Header.Invalid"
  | "Header.Missing"
  | "Resource.ConsentMismatch"
  | "Resource.InvalidConsentStatus"
  | "Resource.InvalidFormat"
  | "Resource.NotFound"
  | "Rules.ResourceAlreadyExists"
  | "Signature.Invalid"
  | "Signature.InvalidClaim"
  | "Signature.Malformed"
  | "Signature.Missing"
  | "Signature.MissingClaim"
  | "Unsupported.AccountIdentifier"
  | "Unsupported.AccountSecondaryIdentifier"
  | "Unsupported.Currency"
  | "Unsupported.Scheme"
  | "UnexpectedError";

/** A fault in one place of a request. `message` never quotes the value, so it is safe to show. */
export interface Fault {
  readonly code: FaultCode;
  /** JSON path such as `Data.Initiation.InstructedAmount.Amount`, a header name, or a JOSE member. */
  readonly path?: string;
  readonly message: string;
}

/** Optional parts of a response beside the reason. */
export interface ApiErrorParts {
  /** Logged, never sent to the caller. If absent, the fault's text is logged. */
  readonly detail?: string;
  /** The wrong part, with the expected and the received value. Explained to a caller with a proven certificate. */
  readonly fault?: Mismatch;
  /** Sent to the caller of a resource endpoint. */
  readonly faults?: readonly Fault[];
  /** Replaces the reason's own `error_description`. Printable ASCII without `"` and `\`, never input. */
  readonly description?: string;
  /** `Allow` of a 405. */
  readonly allow?: string;
  /** `Retry-After` of a 429 or 503. */
  readonly retryAfterSeconds?: number;
  /** The limit that the request would exceed. */
  readonly quota?: { readonly name: string; readonly most: number };
  /** The scope that the request would need (403 challenge). */
  readonly scope?: string;
  /** Next URL of a page: the TPP's verified redirect_uri with a response. */
  readonly nextUrl?: string;
  /** The security event that this rejection is, if its reason alone does not say it. */
  readonly security?: SecurityEvent;
  /** The TPP and its registered web page, for a page that may not redirect to it. */
  readonly tpp?: { readonly clientId: string; readonly name: string; readonly uri: string };
  /** The languages that the TPP asked for, for a page. */
  readonly uiLocales?: readonly string[];
}

/** The only error class for rejected requests. Any other thrown error is a bug and becomes a 500. */
export class ApiError extends Error {
  readonly reason: ErrorReason;
  readonly parts: ApiErrorParts;

  constructor(reason: ErrorReason, parts: ApiErrorParts | string = {}) {
    const given = withDetail(typeof parts === "string" ? { detail: parts } : parts);
    super(given.detail === undefined ? reason : `${reason}: ${given.detail}`);
    this.name = "ApiError";
    this.reason = reason;
    this.parts = given;
  }
}

function withDetail(parts: ApiErrorParts): ApiErrorParts {
  const { detail, fault } = parts;
  return detail === undefined && fault !== undefined ? { ...parts, detail: faultText(fault) } : parts;
}

/** Whether the store failed. The guard of the store has logged the failure already, once for all requests. */
export function isStoreFailure(error: unknown): boolean {
  return error instanceof ApiError && error.reason === "store.unavailable";
}
