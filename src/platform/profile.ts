/**
 * The protocol's constants, each with its unit and where it comes from. Nothing here is configurable:
 * a deployment that changed one would no longer speak this profile.
 */

// --- lifetimes, seconds -----------------------------------------------------------------------------------
/** Access token, both grants (contract LT10). */
export const ACCESS_TOKEN_SECONDS = 3600;
/** `request_uri` (contract LT7; below 600 by FAPI 2.0 §5.3.2.2 item 12). */
export const REQUEST_URI_SECONDS = 599;
/** Authorization code (FAPI 2.0 §5.3.2.1 item 11). */
export const CODE_SECONDS = 60;
/** From the first page of an authorization to its end (contract LT8). */
export const FLOW_SECONDS = 900;
/** An expired authorization session is kept this long, to send its late customer back to the TPP (Decision G1). */
export const LATE_CUSTOMER_SECONDS = 86_400;
/** The hand-over JWT to the bank (contract LT5). */
export const HANDOVER_SECONDS = 300;
/** A bank's hand-over JWT lives at most this long from `iat` (contract LT6). */
export const MAX_BANK_RETURN_SECONDS = 600;
/** A DPoP proof's greatest age (contract LT2). */
export const DPOP_MAX_AGE_SECONDS = 60;
/** How long a DPoP `jti` is remembered: longer than a proof can be valid (contract LT2). */
export const DPOP_REPLAY_SECONDS = 120;
/** A client assertion's `exp` lies at most this far ahead, skew included (contract CA10). */
export const MAX_ASSERTION_SECONDS = 330;
/** A registration JWT lives at most this long from `iat` (contract LT4). */
export const MAX_REGISTRATION_JWT_SECONDS = 3600;
/** An unauthorised consent's greatest age (Decision C1). */
export const AUTHORISE_WITHIN_SECONDS = 86_400;
/** An authorised consent is usable this long (Decision C1). */
export const USE_WITHIN_SECONDS = 3600;
/** An idempotency key is remembered this long (Decision C4). */
export const IDEMPOTENCY_SECONDS = 86_400;
/** A PKCE challenge that got a code is rejected for this long (contract PA14). */
export const CHALLENGE_MEMORY_SECONDS = 86_400;

// --- payment orders (Decision D4) -------------------------------------------------------------------------
/** Waits between pushes of an order, seconds; after the last one it is a dead letter. */
export const ORDER_RETRY_SECONDS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/** A push is given up after this long, seconds. */
export const ORDER_PUSH_SECONDS = 5;
/** The TPP's request waits this long for the first push, seconds. */
export const ORDER_FIRST_PUSH_SECONDS = 3;
/** Whoever takes an order to push it has it alone for this long, seconds: longer than a push can take. */
export const ORDER_LEASE_SECONDS = 15;

// --- sizes ------------------------------------------------------------------------------------------------
/** A registration JWT, which carries a software statement, characters (contract FAPI-G11). */
export const MAX_REGISTRATION_JWT_CHARACTERS = 32_768;
/** `jti` of a JWT, characters (contract FM7). */
export const MAX_JTI_CHARACTERS = 256;
/** `state`, characters (contract FM6). */
export const MAX_STATE_CHARACTERS = 2048;
/** A bank's reason for a payment's status, characters (Decision G6). */
export const MAX_STATUS_REASON_CHARACTERS = 256;
/** Wrong redemptions by its own client after which a code is void (contract TA8). */
export const MAX_CODE_FAILURES = 5;
/** Authorization sessions that one `request_uri` may start: each is a visit of the customer's browser. */
export const MAX_SESSIONS_PER_REQUEST = 20;

// --- names ------------------------------------------------------------------------------------------------
/** RFC 7523 §2.2. */
export const CLIENT_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/** RFC 9126 §2.2. */
export const REQUEST_URI_PREFIX = "urn:ietf:params:oauth:request_uri:";
/** How a TLS proxy hands the client certificate over (Decision A8): RFC 9440, Envoy's XFCC, nginx's escaped PEM. */
export const PROXY_CERTIFICATE_SOURCES = [
  "client-cert",
  "x-forwarded-client-cert",
  "x-ssl-client-cert",
] as const;
/** One of {@link PROXY_CERTIFICATE_SOURCES}. */
export type ProxyCertificateSource = typeof PROXY_CERTIFICATE_SOURCES[number];
/** In which the proxy proves itself (Decision A8). */
export const PROXY_SECRET_HEADER = "x-proxy-secret";
