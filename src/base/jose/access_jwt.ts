/** Verifies JWT access tokens of another issuer (RFC 9068). */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { because, ok, type Reason, type Result } from "../kernel/result.ts";

/** The claims that a token must have, and the keys that verify it. */
export interface AccessJwtRules {
  readonly issuer: string;
  readonly audience: string;
  /** The issuer's keys. */
  readonly keys: JSONWebKeySet;
  /** Milliseconds. */
  readonly now: number;
}

/** Asymmetric alone, so that no published key can be used as a secret (RFC 8725 §2.1). */
const ALGORITHMS = ["PS256", "PS384", "PS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "EdDSA"];
/** RFC 9068 §2.2. */
const REQUIRED = ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"];
/** An operator's token of longer life was not issued for one session. */
const MAX_LIFE = "24h";

/** Between the computers of the issuer and the platform. */
const MAX_SKEW_SECONDS = 5;

/** The fault of a token that names a key which the set does not have, so that the set may be fetched again. */
export const UNKNOWN_KEY = "unknown key";

/** Returns the claims of a valid token. */
export async function verifyAccessJwt(
  token: string,
  { issuer, audience, keys, now }: AccessJwtRules,
): Promise<Result<JWTPayload, Reason>> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer,
      audience,
      typ: "at+jwt",
      algorithms: ALGORITHMS,
      requiredClaims: REQUIRED,
      maxTokenAge: MAX_LIFE,
      clockTolerance: MAX_SKEW_SECONDS,
      currentDate: new Date(now),
    });
    return ok(payload);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return because(UNKNOWN_KEY);
    if (error instanceof errors.JOSEError) return because(error.code);
    throw error;
  }
}
