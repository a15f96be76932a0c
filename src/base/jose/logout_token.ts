/** Verifies logout tokens of an OpenID provider (OpenID Connect Back-Channel Logout 1.0 §2.6). */
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTVerifyGetKey } from "jose";
import { because, ok, type Reason, type Result } from "../kernel/result.ts";

/** Whose sessions end: those of the session at the provider, or all of the subject. */
export interface LoggedOut {
  readonly sub?: string;
  readonly sid?: string;
}

export interface LogoutRules {
  readonly issuer: string;
  /** The client's id. */
  readonly audience: string;
  readonly keys: JWTVerifyGetKey;
  /** Milliseconds. */
  readonly now: number;
}

/** Asymmetric alone, so that no published key can be used as a secret (RFC 8725 §2.1). */
const ALGORITHMS = ["PS256", "PS384", "PS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "EdDSA"];
const EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** §2.4 advises two minutes. */
const MAX_AGE_SECONDS = 300;
const MAX_SKEW_SECONDS = 60;
const MAX_CHARACTERS = 8192;
const TIMEOUT_MS = 5000;
/** Shortest time between two fetches for tokens that name unknown keys. */
const RETRY_MS = 10_000;

/** Fetches the provider's keys when a token names an unknown one. */
export function remoteKeys(
  url: string,
  fetch: (url: string, init: RequestInit) => Promise<Response>,
): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    [customFetch]: fetch,
    cooldownDuration: RETRY_MS,
    timeoutDuration: TIMEOUT_MS,
  });
}

/** Returns whose sessions end, and the token's `jti`, which is good once. */
export async function verifyLogoutToken(
  token: string,
  { issuer, audience, keys, now }: LogoutRules,
): Promise<Result<LoggedOut & { readonly jti: string }, Reason>> {
  if (token.length > MAX_CHARACTERS) return because("too long");
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ["iss", "aud", "iat", "exp", "jti", "events"],
      maxTokenAge: MAX_AGE_SECONDS,
      clockTolerance: MAX_SKEW_SECONDS,
      currentDate: new Date(now),
    });
    const { typ } = protectedHeader;
    if (typ !== undefined && typ.toLowerCase() !== "logout+jwt") return because("typ is not logout+jwt");
    const { sub, sid, jti = "" } = payload;
    const events: unknown = payload["events"];
    const event = typeof events === "object" && events !== null
      ? Object.entries(events).find(([name]) => name === EVENT)
      : undefined;
    if (typeof event?.[1] !== "object" || event[1] === null) {
      return because("events has no back-channel logout");
    }
    if ("nonce" in payload) return because("nonce: it is an ID token");
    const who = {
      ...(typeof sub === "string" && sub !== "" ? { sub } : {}),
      ...(typeof sid === "string" && sid !== "" ? { sid } : {}),
    };
    return "sub" in who || "sid" in who ? ok({ ...who, jti }) : because("neither sub nor sid");
  } catch (error) {
    if (error instanceof errors.JOSEError) return because(error.code);
    return because("the provider's keys are not available");
  }
}
