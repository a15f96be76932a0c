/**
 * Maps every reason of a rejection to its status and public text, per surface. A reason without a row does not
 * compile. Texts are generic if an attacker could use them to probe. The log has the details.
 */
import type { ErrorPageName } from "../../../pages/error_page.tsx";
import type { StatusCode } from "hono/utils/http-status";
import type { ErrorReason, FaultCode } from "../../../base/kernel/api_error.ts";

/** An OAuth error response `{error, error_description}` (RFC 6749 §5.2, RFC 7591 §3.2.2, RFC 9126 §2.3). */
export interface OAuthWire {
  readonly status: StatusCode;
  /** `WWW-Authenticate` if the client that must authenticate is not an OAuth client (RFC 9110 §11.6.1). */
  readonly challenge?: "Bearer" | 'Bearer error="insufficient_scope"';
  readonly error: string;
  readonly description: string;
}

/** With `code`, an `OBErrorResponse1`. With `challenge`, a `WWW-Authenticate: DPoP`, whose `error` may be empty. */
export interface ResourceWire {
  readonly status: StatusCode;
  readonly code?: FaultCode;
  readonly message: string;
  /** The place of every fault with this reason, if it is always the same one. */
  readonly path?: string;
  readonly challenge?: "" | "invalid_request" | "invalid_token" | "invalid_dpop_proof" | "insufficient_scope";
}

export interface PageWire {
  readonly status: StatusCode;
  readonly page: ErrorPageName;
}

/** The forms of one reason. `oauth` is used if the surface has no form of its own. */
export interface Wire {
  readonly oauth: OAuthWire;
  readonly resource?: ResourceWire;
  readonly page?: PageWire;
}

const unauthenticated = oauth(401, "invalid_client", "Client authentication failed."); // CA14: one text for all
const badProof = oauth(
  400,
  "invalid_dpop_proof",
  "The DPoP proof is missing, malformed or not valid for this request.",
);
const badProofAtResource = challenge(401, "invalid_dpop_proof");
const badToken = challenge(401, "invalid_token");
const badRequest = oauth(400, "invalid_request", "The request is malformed.");
const TRY_LATER = "A required service is temporarily unavailable. Try again after the delay in Retry-After.";
const unavailable = row(
  oauth(503, "temporarily_unavailable", TRY_LATER),
  fault(503, "UnexpectedError", TRY_LATER),
  "unavailable",
);
const badMetadata = oauth(400, "invalid_client_metadata", "The registration request is not acceptable.");

export const ERROR_TABLE = {
  "request.not_found": row(oauth(404, "not_found", "There is nothing at this address."), {
    status: 404,
    message: "",
  }, "not_found"),
  "request.method_not_allowed": row(
    oauth(405, "invalid_request", "This method is not allowed here; see Allow."),
    { status: 405, message: "" },
    "wrong_method",
  ),
  "request.too_large": row(
    oauth(413, "invalid_request", "The request is too large."),
    fault(413, "Field.Invalid", "The request is too large."),
    "too_large",
  ),
  "request.incomplete": row(
    oauth(400, "invalid_request", "The request body did not arrive completely. Send the request again."),
    fault(400, "Field.Invalid", "The request body did not arrive completely. Send the request again."),
  ),
  "request.unsupported_media_type": row(
    oauth(400, "invalid_request", "The Content-Type is not the one this endpoint takes."),
    fault(415, "Header.Invalid", "The Content-Type must be application/json."),
  ),
  "request.unsupported_content_encoding": row(
    oauth(415, "invalid_request", "Content codings are not supported."),
    fault(
      415,
      "Header.Invalid",
      "Content codings are not supported: the signature covers the bytes as sent.",
    ),
  ),
  "request.not_acceptable": row(oauth(406, "invalid_request", "Only application/json can be answered."), {
    status: 406,
    message: "",
  }),
  "request.malformed_form": row(badRequest),
  "request.header_missing": row(badRequest, fault(400, "Header.Missing", "A required header is missing.")),
  "request.header_invalid": row(badRequest, fault(400, "Header.Invalid", "A header is malformed.")),
  "request.rate_limited": row(oauth(429, "temporarily_unavailable", "Too many requests; see Retry-After."), {
    status: 429,
    message: "",
  }, "unavailable"),
  "platform.unavailable": unavailable,
  "store.unavailable": unavailable,
  "platform.overloaded": row(
    oauth(503, "temporarily_unavailable", "The platform has too many requests to answer; see Retry-After."),
    { status: 503, message: "" }, // no body, because signing it would cost as much as the request
    "unavailable",
  ),
  "bank.unknown": row(oauth(404, "not_found", "No such bank is registered here."), {
    status: 404,
    message: "",
  }, "not_found"),
  "bank.not_active": row(oauth(400, "invalid_request", "The bank is not active."), {
    status: 403,
    code: "UnexpectedError",
    message: "The bank is not active.",
    challenge: "", // the token is not the cause
  }),
  "certificate.missing": row(
    oauth(401, "invalid_client", "A client certificate of a registered participant is required."),
    badToken,
  ),
  "certificate.not_participants": row(unauthenticated, badToken),
  "client.second_mechanism": row(
    oauth(400, "invalid_request", "Exactly one client authentication is allowed."),
  ),
  "client.assertion_missing": row(unauthenticated),
  "client.assertion_type_unsupported": row(
    oauth(400, "invalid_request", "client_assertion_type must be the JWT bearer type."),
  ),
  "client.not_authenticated": row(unauthenticated),
  "oauth.invalid_request": row(badRequest),
  "oauth.invalid_scope": row(
    oauth(400, "invalid_scope", "The scope is missing or not available to this client."),
  ),
  "oauth.unsupported_grant_type": row(
    oauth(400, "unsupported_grant_type", "Only client_credentials and authorization_code are supported."),
  ),
  "oauth.unauthorized_client": row(oauth(400, "unauthorized_client", "This client may not use this grant.")),
  "oauth.unsupported_response_type": row(
    oauth(400, "unsupported_response_type", "Only response_type code is supported."),
  ),
  "oauth.invalid_grant": row(
    oauth(400, "invalid_grant", "The code, its redirect_uri or its code_verifier is not valid."),
  ),
  "dpop.invalid_proof": row(badProof, badProofAtResource),
  "dpop.replayed": row(badProof, badProofAtResource),
  "dpop.key_mismatch": row(
    oauth(400, "invalid_dpop_proof", "The DPoP proof is by another key than the one this is bound to."),
    badToken, // RFC 9449 §7.1: the token is not valid for this key
  ),
  "token.missing": row(unauthenticated, challenge(401, "")),
  "token.malformed_request": row(badRequest, {
    ...challenge(400, "invalid_request"),
    code: "Header.Invalid",
    message: "The access token must be sent once, in the Authorization header with the DPoP scheme.",
  }),
  "token.invalid": row(unauthenticated, badToken),
  "token.insufficient_scope": row(unauthenticated, {
    ...challenge(403, "insufficient_scope"),
    code: "Header.Invalid",
    message: "The access token does not allow this.",
  }),
  "signature.missing": row(badRequest, fault(400, "Signature.Missing", "x-jws-signature is missing.")),
  "signature.malformed": row(badRequest, fault(400, "Signature.Malformed", "x-jws-signature is malformed.")),
  "signature.missing_claim": row(
    badRequest,
    fault(400, "Signature.MissingClaim", "x-jws-signature lacks a member."),
  ),
  "signature.invalid_claim": row(
    badRequest,
    fault(400, "Signature.InvalidClaim", "x-jws-signature has a wrong member."),
  ),
  "signature.invalid": row(badRequest, fault(400, "Signature.Invalid", "x-jws-signature does not verify.")),
  "idempotency.key_reused": row(
    badRequest,
    fault(
      400,
      "Rules.ResourceAlreadyExists",
      "x-idempotency-key must be a new key for a new body; this key was used with another body.",
    ),
  ),
  "resource.invalid_format": row(
    badRequest,
    fault(400, "Resource.InvalidFormat", "The body is not acceptable JSON."),
  ),
  "resource.invalid_fields": row(badRequest, fault(400, "Field.Invalid", "A field is not acceptable.")),
  "resource.not_found": row(
    badRequest,
    fault(
      400,
      "Resource.NotFound",
      "No such resource: the id must be one that an endpoint of this bank returned to your client.",
    ),
  ), // Decision C2
  "subscription.exists": row(badRequest, fault(409, "Rules.ResourceAlreadyExists", "It exists. Use PUT.")),
  "resource.consent_mismatch": row(
    badRequest,
    fault(400, "Resource.ConsentMismatch", "The payment differs from its consent."),
  ),
  "resource.invalid_consent_status": row(
    badRequest,
    {
      ...fault(400, "Resource.InvalidConsentStatus", "The consent's status does not allow this."),
      path: "Data.ConsentId",
    },
  ),
  "consents.too_many_open": row(
    oauth(429, "temporarily_unavailable", "Too many consents await authorisation; see Retry-After."),
    { status: 429, message: "" }, // contract EH5
    "unavailable",
  ),
  "payment.illegal_move": row(
    badRequest,
    { ...fault(400, "Field.Invalid", "The payment's status does not allow this move."), path: "Data.Status" },
  ),
  "registration.unsupported_media_type": row(
    oauth(415, "invalid_client_metadata", "The Content-Type must be application/jose."),
  ),
  "registration.invalid_software_statement": row(
    oauth(
      400,
      "invalid_software_statement",
      "The software statement is missing, malformed, expired or not authentic.",
    ),
  ),
  "registration.unapproved_software_statement": row(
    oauth(400, "unapproved_software_statement", "The software statement is not approved for this platform."),
  ),
  "registration.invalid_redirect_uri": row(
    oauth(
      400,
      "invalid_redirect_uri",
      "redirect_uris must be a non-empty, valid subset of those in the software statement.",
    ),
  ),
  "registration.invalid_client_metadata": row(badMetadata),
  "authorization.invalid_request": row(badRequest, undefined, "link_unusable"),
  "authorization.request_uri_unusable": row(badRequest, undefined, "link_unusable"),
  "authorization.redirect_uri_unusable": row(badRequest, undefined, "link_unusable"),
  "authorization.client_unusable": row(badRequest, undefined, "shop_inactive"),
  "bank_return.not_authentic": row(
    badRequest,
    fault(400, "Signature.Invalid", "The result JWT cannot be decrypted or is not the bank's."),
    "not_authentic",
  ),
  "bank_result.not_declared": row(
    badRequest,
    {
      ...fault(
        403,
        "UnexpectedError",
        "The bank's software statement does not declare results_on_back_channel.",
      ),
      challenge: "", // the token is not the cause
    },
  ),
  "bank_result.unsupported_media_type": row(
    badRequest,
    fault(415, "Header.Invalid", "The Content-Type must be application/jose."),
  ),
  "bank_result.unusable": row(
    badRequest,
    fault(400, "Field.Invalid", "The result JWT cannot be used for its authorization session."),
  ),
  "interaction.finished": row(badRequest, undefined, "finished"),
  "interaction.accepted": row(badRequest, undefined, "accepted"),
  "interaction.refused": row(badRequest, undefined, "refused"),
  "interaction.not_yours": row(badRequest, undefined, "other_browser"),
  "operations.unauthorized": row({
    ...oauth(401, "unauthorized", "The operator's token is missing or wrong."),
    challenge: "Bearer",
  }),
  "operations.forbidden": row({
    ...oauth(403, "insufficient_role", "None of your roles may do this."),
    challenge: 'Bearer error="insufficient_scope"',
  }),
  "operations.invalid_request": row(badRequest),
  "operations.not_found": row(oauth(404, "not_found", "Does not exist.")),
  "operations.conflict": row(oauth(409, "conflict", "The current state does not allow this.")),
  "operations.order_unknown": row(oauth(404, "not_found", "No such order waits. Has the bank answered it?")),
  "operations.subscription_unknown": row(oauth(404, "not_found", "The TPP has no such subscription.")),
  "operations.participant_unknown": row(oauth(404, "not_found", "No participant has this client id.")),
  "operations.order_not_dead": row(oauth(409, "conflict", "The order is not given up.")),
  "operations.order_may_be_at_bank": row(
    oauth(
      409,
      "may_be_at_bank",
      "The bank may have taken this order. Ask the bank, then send MayBeAtBank true (--may-be-at-bank) to close it anyway.",
    ),
  ),
  "operations.not_held": row(oauth(404, "not_found", "No orders of this bank are held.")),
  "operations.not_in_log": row(oauth(404, "not_found", "The evidence log has no such leaf or size.")),
  "operations.case_unknown": row(oauth(404, "not_found", "No consent or payment has this id.")),
  "operations.case_open": row(
    oauth(
      409,
      "case_open",
      "The consent or its payment is not final, a dispute about it has not ended, or its bank is held after a restore.",
    ),
  ),
  "operations.case_retained": row(oauth(409, "case_retained", "The law requires that this case is kept.")),
  "operations.statement_unusable": row(oauth(409, "conflict", "The bank's statement cannot be used.")),
  "directory.unauthorized": row(oauth(401, "unauthorized", "The admin token is missing or wrong.")),
  "directory.invalid_request": row(badRequest),
  "directory.conflict": row(oauth(409, "conflict", "This clashes with what the directory holds.")),
  "directory.not_found": row(oauth(404, "not_found", "There is nothing at this address.")),
} as const satisfies Record<ErrorReason, Wire>;

/** The response for a bug. It contains no details. */
export const BUG_WIRE: Wire = row(
  oauth(500, "server_error", "The platform failed; quote the x-fapi-interaction-id of this answer."),
  fault(500, "UnexpectedError", "The platform failed; quote the x-fapi-interaction-id of this answer."),
  "unavailable",
);

function row(oauthWire: OAuthWire, resource?: ResourceWire, page?: PageWire["page"]): Wire {
  const wire = { oauth: oauthWire, ...(resource === undefined ? {} : { resource }) };
  const { status } = oauthWire;
  const pageStatus = status === 404 || status === 405 || status >= 413 ? status : 400;
  return page === undefined ? wire : { ...wire, page: { status: pageStatus, page } };
}

function oauth(status: StatusCode, error: string, description: string): OAuthWire {
  return { status, error, description };
}

function fault(status: StatusCode, code: FaultCode, message: string): ResourceWire {
  return { status, code, message };
}

function challenge(status: StatusCode, error: NonNullable<ResourceWire["challenge"]>): ResourceWire {
  return { status, message: "", challenge: error };
}
