/**
 * The protocol's constants, each with its unit and source. None is configurable, because a deployment with other
 * values would not conform to this profile.
 */

// --- lifetimes, seconds -----------------------------------------------------------------------------------
/** Access token, both grants (contract LT10). */
export const ACCESS_TOKEN_SECONDS = 3600;
/** `request_uri` (contract LT7; below 600 by FAPI 2.0 §5.3.2.2 item 12). */
export const REQUEST_URI_SECONDS = 599;
/** Authorization code (FAPI 2.0 §5.3.2.1 item 11). */
export const CODE_SECONDS = 60;
/** An authorization session, from its first page (contract LT8). */
export const FLOW_SECONDS = 900;
/**
 * How long an expired authorization session is stored, so that its late customer is redirected to the TPP (Decision
 * G1).
 */
export const LATE_CUSTOMER_SECONDS = 86_400;
/** The handover JWT to the bank (contract LT5). */
export const HANDOVER_SECONDS = 300;
/** Longest lifetime of a bank's result JWT from `iat` (contract LT6). */
export const MAX_BANK_RETURN_SECONDS = 600;
/** Largest age of a DPoP proof (contract LT2). */
export const DPOP_MAX_AGE_SECONDS = 60;
/** How long the replay record of a DPoP `jti` is stored: longer than a proof can be valid (contract LT2). */
export const DPOP_REPLAY_SECONDS = 120;
/** Limit of a client assertion's `exp` minus now, including clock skew (contract CA10). */
export const MAX_ASSERTION_SECONDS = 330;
/** Longest lifetime of a registration JWT from `iat` (contract LT4). */
export const MAX_REGISTRATION_JWT_SECONDS = 3600;
/** Largest age of an unauthorised consent (Decision C1). */
export const AUTHORISE_WITHIN_SECONDS = 86_400;
/** How long an authorised consent can be used (Decision C1). */
export const USE_WITHIN_SECONDS = 3600;
/** How long an idempotency key is stored (Decision C4). */
export const IDEMPOTENCY_SECONDS = 86_400;
/** How long a PKCE challenge that got a code is rejected (contract PA14). */
export const CHALLENGE_MEMORY_SECONDS = 86_400;

// --- payment orders (Decision D4) -------------------------------------------------------------------------
/** Delays between pushes of an order, seconds. After the last one the order is dead. */
export const ORDER_RETRY_SECONDS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/** Timeout of a push, seconds. */
export const ORDER_PUSH_SECONDS = 5;
/** How long the TPP's request waits for the first push, seconds. */
export const ORDER_FIRST_PUSH_SECONDS = 3;
/** Lease of an order for a push, seconds: longer than a push can take. */
export const ORDER_LEASE_SECONDS = 15;

// --- sizes ------------------------------------------------------------------------------------------------
/** A registration JWT with its software statement, characters (contract FAPI-G11). */
export const MAX_REGISTRATION_JWT_CHARACTERS = 32_768;
/** `jti` of a JWT, characters (contract FM7). */
export const MAX_JTI_CHARACTERS = 256;
/** `state`, characters (contract FM6). */
export const MAX_STATE_CHARACTERS = 2048;
/** A bank's reason for a payment's status, characters (Decision G6). */
export const MAX_STATUS_REASON_CHARACTERS = 256;
/** A code is void after this many wrong redemptions by its own client (contract TA8). */
export const MAX_CODE_FAILURES = 5;
/** Limit of the authorization sessions that one `request_uri` starts. Each is a visit of the customer's browser. */
export const MAX_SESSIONS_PER_REQUEST = 20;

// --- names ------------------------------------------------------------------------------------------------
/** RFC 7523 §2.2. */
export const CLIENT_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/** RFC 9126 §2.2. */
export const REQUEST_URI_PREFIX = "urn:ietf:params:oauth:request_uri:";
/**
 * Headers in which a TLS proxy passes the client certificate (Decision A8): RFC 9440, Envoy's XFCC, nginx's escaped
 * PEM.
 */
export const PROXY_CERTIFICATE_SOURCES = [
  "client-cert",
  "x-forwarded-client-cert",
  "x-ssl-client-cert",
] as const;
/** One of {@link PROXY_CERTIFICATE_SOURCES}. */
export type ProxyCertificateSource = typeof PROXY_CERTIFICATE_SOURCES[number];
/** Header of the proxy's secret (Decision A8). */
export const PROXY_SECRET_HEADER = "x-proxy-secret";

/** Reports of payer accounts that one consent can have. The decision deletes them all in its commit. */
export const MAX_ACCOUNT_REPORTS = 20;

/**
 * Entries in a consent's history after which no further authorization request is taken, and after which no further
 * session begins. A case file stays readable whatever a TPP and a customer's browser repeat.
 */
export const MAX_REQUESTED_STEPS = 200;
export const MAX_STARTED_STEPS = 300;

/**
 * Attempts of a pushed request and of an opened link. Each writes the consent's history, so of parallel ones for one
 * consent one commits at a time.
 */
export const MAX_CONSENT_RACES = 40;
