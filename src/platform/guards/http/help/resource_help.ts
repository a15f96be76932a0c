/** Documentation of the errors of signed bodies and resources. */
import { help } from "./error_help_entry.ts";

export const RESOURCE_HELP = {
  "signature.missing": help(
    "The request has a body, but no x-jws-signature.",
    "A detached JWS over the bytes of the body",
    "x-jws-signature: eyJhbGciOiJQUzI1NiIs…..c2lnbmF0dXJl",
    "Sign the body as the page Signatures describes.",
  ),
  "signature.malformed": help(
    "x-jws-signature is not a compact JWS with an empty payload, or not in base64url.",
    "<header>..<signature>",
    "x-jws-signature: eyJhbGciOiJQUzI1NiIs…..c2lnbmF0dXJl",
    "Remove the payload segment, keep both dots, and write no padding.",
  ),
  "signature.missing_claim": help(
    "The protected header lacks a member. Path names it.",
    "alg, kid, and the claims that the operator requires",
    '{"alg": "PS256", "kid": "<kid of your signing key>"}',
    "Add the member.",
  ),
  "signature.invalid_claim": help(
    "A member of the protected header is wrong. Path names it.",
    "alg PS256, the kid of your signing key, iat of the last hour, iss your id, tan the host of the directory, crit the list of b64 and these claims",
    '{"alg": "PS256", "kid": "…", "http://openbanking.org.uk/tan": "directory.example", …}',
    "Correct the member that Message names.",
  ),
  "signature.invalid": help(
    "The signature does not verify over the bytes that arrived.",
    "A signature by the key that kid names over the exact bytes of the body",
    "-",
    "Serialize the body once, sign these bytes and send them. Do not let the HTTP client serialize it again.",
  ),
  "bank_result.not_declared": help(
    "The bank's software statement does not declare results on the back channel.",
    "results_on_back_channel: true in the software statement",
    '{"results_on_back_channel": true}',
    "Ask the directory for a statement that declares it, or return the customer in the browser that began.",
  ),
  "bank_result.unsupported_media_type": help(
    "The body of a delivered result has another media type.",
    "application/jose, and the compact JWE alone as the body",
    "content-type: application/jose",
    "Send the JWE as it would be in oAuthUrl.",
  ),
  "bank_result.unusable": help(
    "The result is the bank's, but not one for its authorization session now. Message names the claim.",
    "exp, iat, ref_id and debtor_account_present as in the guide for banks; for a success the payer's accounts before it",
    '{"ref_id": "<as received>", "status_code": "success"}',
    "Correct the cause and deliver a new JWT. The rejected one has had no effect.",
  ),
  "idempotency.key_reused": help(
    "The x-idempotency-key was used with another body within 24 hours.",
    "A new key for a new body, the same key and body for a retry",
    "x-idempotency-key: 7f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11",
    "Make a new key for each new payment or consent.",
  ),
  "subscription.exists": help(
    "The client has an event subscription at this bank, perhaps from a request whose answer was lost.",
    "At most one subscription at each bank",
    "PUT /BANKA/event-subscriptions/v1/{EventSubscriptionId}",
    "Read the subscription with GET. Change it with PUT, or end it with DELETE.",
  ),
  "resource.invalid_format": help(
    "The body is not one JSON object, or is ambiguous JSON.",
    "A JSON object in UTF-8, without a repeated member, at most 16 levels deep",
    '{"Data": {…}, "Risk": {}}',
    "Let a library write the JSON.",
  ),
  "resource.invalid_fields": help(
    "One or more fields are missing, wrong or unknown. Path names each.",
    "The schema of the API reference",
    '"InstructedAmount": {"Amount": "165.88", "Currency": "EUR"}',
    "Correct every field that Errors lists.",
  ),
  "resource.not_found": help(
    "No resource with this id exists for you at this bank.",
    "An id that this bank's endpoints returned to your client",
    "-",
    "Compare the id, the bank code in the path and the client.",
  ),
  "resource.consent_mismatch": help(
    "The payment differs from its consent. Path names each difference.",
    "Initiation and Risk exactly as in the consent",
    '"Initiation": {…}',
    "Copy Initiation and Risk from the consent request.",
  ),
  "resource.invalid_consent_status": help(
    "The status of the consent does not allow this request.",
    "Authorized for a payment and funds confirmation, AwaitingAuthorisation for PAR and payer accounts",
    '"Status": "Authorized"',
    "Read the consent. Create a new one if it is rejected or consumed.",
  ),
  "consents.too_many_open": help(
    "Too many consents of your client await authorisation. RateLimit-Policy has the number.",
    "Fewer: a consent counts until its customer has decided, or until it expires",
    "retry-after: 60",
    "Create a consent when a customer pays, and not in advance. The request consumed neither its proof nor its idempotency key.",
  ),
  "payment.illegal_move": help(
    "A bank reported a status that cannot follow the payment's current one.",
    "A status that the table of payment statuses allows",
    '"Status": "AcceptedSettlementCompleted"',
    "Read the order and report the next status.",
  ),
} as const;
