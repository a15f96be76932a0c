/** Documentation of the errors of requests as such: their form, their certificate, and parts that are not available. */
import { help } from "./error_help_entry.ts";

const RETRY = "Send the same request again after the delay in Retry-After, with the same x-idempotency-key.";

export const REQUEST_HELP = {
  "request.not_found": help(
    "No endpoint has this path.",
    "A path of the API reference",
    "/BANKA/domestic-payments/v1",
    "Compare the path with the API reference. It is case-sensitive and has no slash at its end.",
  ),
  "request.method_not_allowed": help(
    "The endpoint exists, but not with this method.",
    "A method that the Allow header lists",
    "POST",
    "Use a method from the Allow header of the answer.",
  ),
  "request.too_large": help(
    "The body or a JWT is larger than the limit.",
    "A body of at most 65,536 bytes, a JWT of at most 8,192 characters, a registration JWT of at most 32,768",
    "content-length: 1024",
    "Send less.",
  ),
  "request.incomplete": help(
    "The connection ended, or 5 s passed, before the whole body arrived.",
    "As many bytes as Content-Length states",
    "content-length: 1024",
    "Send the request again with the same x-idempotency-key.",
  ),
  "request.unsupported_media_type": help(
    "The Content-Type is not the one of this endpoint.",
    "application/json at resources, application/x-www-form-urlencoded at the token endpoint and PAR",
    "content-type: application/json",
    "Set the header. The only allowed parameter is charset=utf-8.",
  ),
  "request.unsupported_content_encoding": help(
    "The body is compressed. The payload signature covers the bytes as sent.",
    "No Content-Encoding",
    "content-encoding: identity",
    "Send the body uncompressed.",
  ),
  "request.not_acceptable": help(
    "The Accept header excludes application/json.",
    "application/json, */* or no Accept header",
    "accept: application/json",
    "Change or remove the header.",
  ),
  "request.malformed_form": help(
    "The form repeats a parameter, has a malformed percent escape, or is not UTF-8.",
    "Each parameter once, encoded as application/x-www-form-urlencoded",
    "grant_type=client_credentials&scope=payments",
    "Let a library encode the form.",
  ),
  "request.header_missing": help(
    "A required header is missing. Path names it.",
    "The header",
    "x-idempotency-key: 7f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11",
    "Send the header.",
  ),
  "request.header_invalid": help(
    "A header is malformed. Path names it.",
    "A UUID in x-fapi-interaction-id, an HTTP date in x-fapi-auth-date, an IP address in x-fapi-customer-ip-address",
    "x-fapi-auth-date: Sun, 10 Sep 2017 19:43:31 GMT",
    "Correct the header, or leave it out if it is optional.",
  ),
  "request.rate_limited": help(
    "You sent more requests to this group of endpoints than you may.",
    "The rate that was agreed with the platform",
    "retry-after: 2",
    "Wait as long as Retry-After says. The request consumed neither its proof nor its idempotency key.",
  ),
  "platform.unavailable": help(
    "A service that this request needs, such as the directory, is temporarily unavailable.",
    "-",
    "retry-after: 5",
    RETRY,
  ),
  "store.unavailable": help(
    "The platform's database is temporarily unavailable.",
    "-",
    "retry-after: 5",
    RETRY,
  ),
  "platform.overloaded": help("The platform has too many requests to answer.", "-", "retry-after: 1", RETRY),
  "bank.unknown": help(
    "No bank with the code in the path is registered.",
    "The code of a registered bank, case-sensitive",
    "/BANKA/token.oauth2/v1",
    "Take the code from the directory's list of participants.",
  ),
  "bank.not_active": help(
    "The directory or the operator of this platform has suspended the bank.",
    "An active bank",
    "-",
    "Offer the customer another bank. Existing consents and payments can still be read.",
  ),
  "certificate.missing": help(
    "The request came without a client certificate, or with one that has expired.",
    "Your transport certificate (use tls) in the TLS handshake",
    "curl --cert transport.cert.pem --key transport.key.pem",
    "Configure the certificate and its key in your HTTP client.",
  ),
  "certificate.not_participants": help(
    "The certificate is not one of the client that the request names.",
    "A current transport certificate (use tls) of this client",
    "curl --cert transport.cert.pem --key transport.key.pem",
    "Use the transport certificate, not the signing certificate, of the same software as client_id.",
  ),
} as const;
