/**
 * Identifies the person of a bearer token (RFC 6750 §2.1). Only wrong tokens are limited, so a flood of guesses does not
 * lock out the people with valid ones. The caller's response must not show why a token is wrong.
 */
import type { Clock } from "../kernel/clock.ts";
import { ApiError } from "../kernel/api_error.ts";
import type { Identified } from "./credentials.ts";
import { openLimiter } from "../kernel/recently_used.ts";

/** A person whose token was right. */
export interface Person {
  readonly name: string;
  readonly roles: readonly string[];
  /** The participant for which the person acts. Absent for the platform's own people. */
  readonly organisation?: string;
  /** Who the person is at the OpenID provider, if that is known. */
  readonly person?: string;
}

/** Returns the person of a token, or undefined if the token was wrong. */
export function personOf({ name, roles = [], organisation, person }: Identified): Person | undefined {
  if (name === undefined) return undefined;
  return {
    name,
    roles,
    ...(organisation === undefined ? {} : { organisation }),
    ...(person === undefined ? {} : { person }),
  };
}

export interface BearerDeps {
  /** Looks up a token. */
  readonly identify: (token: string) => Promise<Identified>;
  readonly clock: Clock;
  /** The reason of a rejection. */
  readonly unauthorized: "directory.unauthorized" | "operations.unauthorized";
}

// Decision F8: not hono/bearer-auth.
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;
/** Wrong tokens per credential: a burst of ten, then one every six seconds. */
const A_CREDENTIAL = { perSecond: 1 / 6, burst: 10, maxKeys: 1001 };
/** Wrong tokens of all kinds. */
const TOGETHER = { perSecond: 1, burst: 60, maxKeys: 1 };
/** Used for every unknown credential, so that an attacker cannot fill the memory with invented ids. */
const UNKNOWN = "unknown";

/**
 * Returns the check of an `Authorization` header. It throws {ApiError} `deps.unauthorized` or `request.rate_limited`.
 *
 * @returns a function of the header and of a callback, which gets the credential that a wrong token named
 */
export function openBearer(
  { identify, clock, unauthorized }: BearerDeps,
): (header: string | undefined, wrong: (credential: string) => void) => Promise<Person> {
  const aCredential = openLimiter(A_CREDENTIAL, clock);
  const together = openLimiter(TOGETHER, clock);
  return async (header, wrong) => {
    const token = BEARER.exec(header ?? "")?.[1];
    if (token === undefined) throw new ApiError(unauthorized, "no bearer token");
    const { credential = UNKNOWN, ...identified } = await identify(token);
    const person = personOf(identified);
    if (person !== undefined) return person;
    const retryAfterSeconds = Math.max(aCredential.take(credential), together.take(""));
    if (retryAfterSeconds > 0) throw new ApiError("request.rate_limited", { retryAfterSeconds });
    wrong(credential);
    throw new ApiError(unauthorized, "wrong token");
  };
}
