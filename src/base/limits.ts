/**
 * Constants of signatures, keys and messages that the platform and the directory share, each with its unit and
 * source. None is configurable, because a deployment with other values would not conform to this profile.
 */

/** The only signature algorithm (contract FAPI-D20; FAPI 2.0 §5.4.1 item 1). */
export const SIGNATURE_ALG = "PS256";

/** Key management of handover JWTs (Decision A10). */
export const KEY_MANAGEMENT_ALG = "RSA-OAEP-256";

/** Content encryption of handover JWTs (Decision A10). */
export const CONTENT_ENCRYPTION_ALG = "A256GCM";

/** Smallest RSA modulus, bits (FAPI 2.0 §5.4.1 item 2). */
export const MIN_RSA_BITS = 2048;

/** Largest RSA modulus, bits. Bounds the cost of a verification. */
export const MAX_RSA_BITS = 4096;

/**
 * Tolerance for `iat` and `nbf` in the future, in JWTs of other parties (contract FAPI-D4; FAPI 2.0 §5.3.2.1 item
 * 13).
 */
export const FUTURE_SKEW_SECONDS = 30;

/** Tolerance after `exp`, in JWTs of other parties (contract LT11; RFC 7523 §3). */
export const EXPIRY_SKEW_SECONDS = 30;

/** Limit of form and JSON bodies, bytes (contract FAPI-G11). */
export const MAX_BODY_BYTES = 65_536;

/** Limit of a single JWT, characters (contract FAPI-G11). */
export const MAX_JWT_CHARACTERS = 8192;

/**
 * Limit of a certification report, characters: it fits into a JSON body and into a stored value together with the
 * names of their members (Decision E5).
 */
export const MAX_CERTIFICATION_REPORT_CHARACTERS = 60_000;

/** Limit of JSON nesting, levels (contract SZ2). */
export const MAX_JSON_DEPTH = 16;

/** Names of the OBIE claims in the protected header of `x-jws-signature` (contract SG3). */
export const OBIE_CLAIM = {
  iat: "http://openbanking.org.uk/iat",
  iss: "http://openbanking.org.uk/iss",
  tan: "http://openbanking.org.uk/tan",
} as const;

/** Limits of redirect URLs of a TPP and of a bank (contract PN11). */
export const MAX_REDIRECT_URIS = { PISP: 4, ASPSP: 1 } as const;

/** Longest remaining lifetime of a software statement (contract LT3). */
export const MAX_SOFTWARE_STATEMENT_SECONDS = 2 * 366 * 86_400;
