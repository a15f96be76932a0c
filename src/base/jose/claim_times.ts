/** Checks the time claims of a JWT (contract LT1 to LT12). jose's own checks accept Infinity and a future `iat`. */
import { EXPIRY_SKEW_SECONDS, FUTURE_SKEW_SECONDS } from "../limits.ts";
import { described, type Failure, mismatch, ok, type Result } from "../kernel/result.ts";
import type { JsonObject } from "./compact_jws.ts";

/** Rules for the times of one kind of JWT, in seconds. */
export interface TimeRules {
  readonly exp: "required" | "optional";
  readonly iat: "required" | "optional";
  /** Limit of `exp` minus now. */
  readonly maxAhead?: number;
  /** Limit of `exp` minus `iat`. */
  readonly maxLifetime?: number;
  /** Limit of now minus `iat`. */
  readonly maxAge?: number;
}

/** The times of a JWT, in Unix seconds. */
export interface ClaimTimes {
  readonly exp?: number;
  readonly iat?: number;
  readonly nbf?: number;
}

/**
 * Checks `exp`, `iat` and `nbf`.
 *
 * @param now Unix seconds
 */
export function checkTimes(claims: JsonObject, rules: TimeRules, now: number): Result<ClaimTimes> {
  const read = readTimes(claims, rules);
  if (!read.ok) return read;
  const { exp, iat, nbf } = read.value;
  if (exp !== undefined && now >= exp + EXPIRY_SKEW_SECONDS) {
    return described("exp", `later than now (${now})`, `${exp}, which is ${now - exp} s ago`);
  }
  if (exp !== undefined && rules.maxAhead !== undefined && exp > now + rules.maxAhead) {
    return described("exp", `at most ${rules.maxAhead} s from now (${now})`, `${exp - now} s from now`);
  }
  if (iat !== undefined && iat > now + FUTURE_SKEW_SECONDS) return tooFarAhead("iat", iat, now);
  if (nbf !== undefined && nbf > now + FUTURE_SKEW_SECONDS) return tooFarAhead("nbf", nbf, now);
  if (iat !== undefined && rules.maxAge !== undefined && iat < now - rules.maxAge) {
    return described("iat", `at most ${rules.maxAge} s old`, `${iat}, which is ${now - iat} s old`);
  }
  if (
    exp !== undefined && iat !== undefined && rules.maxLifetime !== undefined && exp - iat > rules.maxLifetime
  ) {
    return described("exp", `at most ${rules.maxLifetime} s after iat`, `${exp - iat} s after iat`);
  }
  return read;
}

function tooFarAhead(name: "iat" | "nbf", value: number, now: number): Failure {
  const expected = `at most ${FUTURE_SKEW_SECONDS} s ahead of now (${now})`;
  return described(name, expected, `${value}, which is ${value - now} s ahead`);
}

function readTimes(claims: JsonObject, rules: TimeRules): Result<ClaimTimes> {
  const times: { exp?: number; iat?: number; nbf?: number } = {};
  for (const name of ["exp", "iat", "nbf"] as const) {
    const value = claims[name];
    const isPresent = Object.hasOwn(claims, name);
    if (isPresent && typeof value === "number" && Number.isFinite(value)) times[name] = value;
    else if (isPresent) return mismatch(name, "a number of Unix seconds", value ?? String(value));
    else if (name !== "nbf" && rules[name] === "required") return mismatch(name, "a number of Unix seconds");
  }
  return ok(times);
}
