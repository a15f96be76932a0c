/**
 * The protocol's constants as documented for TPPs and banks. External parties import no code of the platform; a test
 * compares these constants with the platform's.
 */

/** The signature algorithm of every JWT and payload signature. */
export const SIGNATURE_ALG = "PS256";
/** Key management of the encrypted JWTs between platform and bank. */
export const KEY_MANAGEMENT_ALG = "RSA-OAEP-256";
/** Content encryption of the encrypted JWTs between platform and bank. */
export const CONTENT_ENCRYPTION_ALG = "A256GCM";
/** `iat` and `nbf` may be this far ahead, seconds. */
export const FUTURE_SKEW_SECONDS = 30;
/** A JWT is accepted this long after its `exp`, seconds. */
export const EXPIRY_SKEW_SECONDS = 30;
/** Lifetime of a handover JWT and of a result JWT, seconds. */
export const HANDOVER_SECONDS = 300;
/** Lifetime of an authorization session, seconds. */
export const FLOW_SECONDS = 900;
/** Size of a JSON body, bytes. */
export const MAX_BODY_BYTES = 65_536;
/** Length of one JWT, characters. */
export const MAX_JWT_CHARACTERS = 8192;
/** Length of `jti`, characters. */
export const MAX_JTI_CHARACTERS = 256;
/** Names of the OBIE claims in the protected header of `x-jws-signature`. */
export const OBIE_CLAIM = {
  iat: "http://openbanking.org.uk/iat",
  iss: "http://openbanking.org.uk/iss",
  tan: "http://openbanking.org.uk/tan",
} as const;
