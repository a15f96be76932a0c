/**
 * The one way this platform says no. A rejection carries a reason from a closed union; what the caller may
 * read of it is decided in `platform/http/error_table.ts`, and `detail` goes to the log only.
 */

/** Why a request was rejected: `<area>.<what>`. Each reason has its wire form in `platform/http/error_table.ts`. */
export type ErrorReason =
  | "request.not_found"
  | "request.method_not_allowed"
  | "request.too_large"
  | "request.incomplete"
  | "request.unsupported_media_type"
  | "request.unsupported_content_encoding"
  | "request.not_acceptable"
  | "request.malformed_form"
  | "request.header_missing"
  | "request.header_invalid"
  | "request.rate_limited"
  | "platform.unavailable"
  | "store.unavailable"
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
  | "resource.invalid_consent_status"
  | "payment.illegal_move"
  | "registration.unsupported_media_type"
  | "registration.invalid_software_statement"
  | "registration.unapproved_software_statement"
  | "registration.invalid_redirect_uri"
  | "registration.invalid_client_metadata"
  | "authorization.invalid_request"
  | "authorization.request_uri_unusable"
  | "authorization.client_unusable"
  | "bank_return.not_authentic"
  | "interaction.finished"
  | "interaction.accepted"
  | "interaction.refused"
  | "interaction.not_yours"
  | "operations.unauthorized"
  | "operations.invalid_request"
  | "operations.order_unknown"
  | "operations.order_not_dead"
  | "operations.not_held"
  | "operations.statement_unusable"
  | "directory.unauthorized"
  | "directory.invalid_request"
  | "directory.conflict"
  | "directory.not_found";

/** The `UK.OBIE.` codes that a single field, header or JOSE claim can be rejected with (namespace left out). */
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

/** One faulty place in a request. `message` is safe to show: it never quotes the value. */
export interface Fault {
  readonly code: FaultCode;
  /** JSON path such as `Data.Initiation.InstructedAmount.Amount`, a header name, or a JOSE member. */
  readonly path?: string;
  readonly message: string;
}

/** What the wire form needs beside the reason. */
export interface ApiErrorParts {
  /** For the log, never for the caller. */
  readonly detail?: string;
  /** Faulty places, shown to the caller of a resource endpoint. */
  readonly faults?: readonly Fault[];
  /** `error_description` in place of the reason's own; printable ASCII without `"` and `\`, never input. */
  readonly description?: string;
  /** `Allow` of a 405. */
  readonly allow?: string;
  /** `Retry-After` of a 429 or 503. */
  readonly retryAfterSeconds?: number;
  /** The scope that would have been enough (403 challenge). */
  readonly scope?: string;
  /** Where a page may send its reader on to: the TPP's proven redirect_uri with an answer. */
  readonly wayOn?: string;
  /** The TPP that the reader came from, with its registered web page, for a page that may not redirect. */
  readonly tpp?: { readonly clientId: string; readonly name: string; readonly uri: string };
}

/** The only error class of the platform; everything else that is thrown is a bug and becomes a 500. */
export class ApiError extends Error {
  readonly reason: ErrorReason;
  readonly parts: ApiErrorParts;

  constructor(reason: ErrorReason, parts: ApiErrorParts | string = {}) {
    const given = typeof parts === "string" ? { detail: parts } : parts;
    super(given.detail === undefined ? reason : `${reason}: ${given.detail}`);
    this.name = "ApiError";
    this.reason = reason;
    this.parts = given;
  }
}

/** Whether the store failed. Its guard has logged that, once for all requests. */
export function isStoreFailure(error: unknown): boolean {
  return error instanceof ApiError && error.reason === "store.unavailable";
}
