/**
 * The one way to verify a JWT of another party: form and header, the key of the party that must have signed it, the
 * signature, the claims, their times. No claim is believed before the signature is verified.
 */
import { type Clock, unixSeconds } from "../kernel/clock.ts";
import {
  describedMismatch,
  type Failure,
  type Mismatch,
  mismatch,
  ok,
  quote,
  type Result,
} from "../kernel/result.ts";
import {
  type HeaderRules,
  inPart,
  type JsonObject,
  type JwtFault,
  readCompactJws,
  type UnverifiedJws,
  verifyClaims,
} from "./compact_jws.ts";
import { EXPIRY_SKEW_SECONDS, FUTURE_SKEW_SECONDS } from "../limits.ts";

/** The party that must have signed, as far as the caller needs it, and its key. */
export interface Signer {
  readonly key: CryptoKey;
}

/** Rules until the signer is known. */
export interface SignerRules<S extends Signer, F> extends HeaderRules {
  /**
   * Finds the signer. The header may select one of the expected party's keys. Unverified claims may only be used to
   * find a signed document that names the party.
   */
  readonly findKey: (jws: UnverifiedJws) => Promise<Result<S, F>>;
}

/** Rules for verified claims. */
export interface ClaimRules<S extends Signer, T> {
  readonly claims: (claims: JsonObject, signer: S) => Result<T, Mismatch>;
  /** `"unchecked"` if expired claims are of use too. The caller then decides about the times. */
  readonly times: TimeRules & TimeSource | "unchecked";
}

export interface TimeSource {
  /** Read after the signature is verified, because the key may have to be fetched before. */
  readonly clock: Clock;
}

/** A JWT whose signer is known. Not verified yet. */
export interface IdentifiedJwt<S extends Signer> {
  readonly jws: UnverifiedJws;
  readonly signer: S;
}

export interface VerifiedJwt<S extends Signer, T> {
  readonly claims: T;
  readonly signer: S;
}

/** Verifies a JWT. The fault is the first one in the order of this file, or the one of `findKey`. */
export async function verifyJwt<S extends Signer, T, F = JwtFault>(
  token: string,
  rules: SignerRules<S, F> & ClaimRules<S, T>,
): Promise<Result<VerifiedJwt<S, T>, JwtFault | F>> {
  const identified = await identifySigner(token, rules);
  return identified.ok ? await verifyIdentified(identified.value, rules) : identified;
}

/** The first half of {@link verifyJwt}: the checks without cryptography. */
export async function identifySigner<S extends Signer, F = JwtFault>(
  token: string,
  rules: SignerRules<S, F>,
): Promise<Result<IdentifiedJwt<S>, JwtFault | F>> {
  const jws = readCompactJws(token, rules);
  if (!jws.ok) return jws;
  const signer = await rules.findKey(jws.value);
  return signer.ok ? ok({ jws: jws.value, signer: signer.value }) : signer;
}

/** The second half of {@link verifyJwt}, for a caller that has other work to do between the two. */
export async function verifyIdentified<S extends Signer, T>(
  { jws, signer }: IdentifiedJwt<S>,
  rules: ClaimRules<S, T>,
): Promise<Result<VerifiedJwt<S, T>, JwtFault>> {
  const verified = await verifyClaims(jws, signer.key);
  if (!verified.ok) return verified;
  const claims = rules.claims(verified.value, signer);
  if (!claims.ok) return inPart("claims", claims);
  if (rules.times !== "unchecked") {
    const times = checkTimes(verified.value, rules.times, unixSeconds(rules.times.clock()));
    if (!times.ok) return inPart("times", times);
  }
  return ok({ claims: claims.value, signer });
}

// Checks the claims of a verified JWT, each by a rule that names what is expected.

/** Checks one claim. `value` is undefined if the claim is absent. */
export type ClaimRule<T> = (value: unknown, name: string) => Result<T>;

/** The values of claims that satisfy the rules. */
export type ClaimsOf<R extends Readonly<Record<string, ClaimRule<unknown>>>> = {
  readonly [Name in keyof R]: R[Name] extends ClaimRule<infer T> ? T : never;
};

/** Checks the claims in the order of the rules. Claims without a rule are ignored. */
export function checkClaims<R extends Readonly<Record<string, ClaimRule<unknown>>>>(
  claims: JsonObject,
  rules: R,
): Result<ClaimsOf<R>> {
  const values: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const checked = rule(Object.hasOwn(claims, name) ? claims[name] : undefined, name);
    if (!checked.ok) return checked;
    values[name] = checked.value;
  }
  return ok(values as ClaimsOf<R>);
}

/**
 * The claim must be exactly this string, never a list that contains it.
 *
 * @param meaning what the string is, for the fault
 */
export function exactly(expected: string, meaning?: string): ClaimRule<string> {
  const words = meaning === undefined ? quote(expected) : `${quote(expected)} (${meaning})`;
  return (value, name) => value === expected ? ok(expected) : mismatch(name, words, value);
}

/** The claim must be a string of 1 to `max` characters. */
export function text(max: number): ClaimRule<string> {
  return (value, name) =>
    typeof value === "string" && value !== "" && value.length <= max
      ? ok(value)
      : mismatch(name, `a string of 1 to ${max} characters`, value);
}

/** The claim must be a number. Its limits are those of `checkTimes`. */
export function unixTime(value: unknown, name: string): Result<number> {
  return typeof value === "number" ? ok(value) : mismatch(name, "a number of Unix seconds", value);
}

/** The claim must be absent, because another kind of JWT has it (RFC 8725 §3.12). */
export function absent(value: unknown, name: string): Result<undefined> {
  return value === undefined ? ok(undefined) : mismatch(name, "absent", value);
}

/** The claim may have any value or be absent. */
export function anything(value: unknown): Result<unknown> {
  return ok(value);
}

// Checks the time claims of a JWT (contract LT1 to LT12). jose's own checks accept Infinity and a future `iat`.

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
    return describedMismatch("exp", `later than now (${now})`, `${exp}, which is ${now - exp} s ago`);
  }
  if (exp !== undefined && rules.maxAhead !== undefined && exp > now + rules.maxAhead) {
    return describedMismatch(
      "exp",
      `at most ${rules.maxAhead} s from now (${now})`,
      `${exp - now} s from now`,
    );
  }
  if (iat !== undefined && iat > now + FUTURE_SKEW_SECONDS) return tooFarAhead("iat", iat, now);
  if (nbf !== undefined && nbf > now + FUTURE_SKEW_SECONDS) return tooFarAhead("nbf", nbf, now);
  if (iat !== undefined && rules.maxAge !== undefined && iat < now - rules.maxAge) {
    return describedMismatch("iat", `at most ${rules.maxAge} s old`, `${iat}, which is ${now - iat} s old`);
  }
  if (
    exp !== undefined && iat !== undefined && rules.maxLifetime !== undefined && exp - iat > rules.maxLifetime
  ) {
    return describedMismatch("exp", `at most ${rules.maxLifetime} s after iat`, `${exp - iat} s after iat`);
  }
  return read;
}

function tooFarAhead(name: "iat" | "nbf", value: number, now: number): Failure {
  const expected = `at most ${FUTURE_SKEW_SECONDS} s ahead of now (${now})`;
  return describedMismatch(name, expected, `${value}, which is ${value - now} s ahead`);
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
