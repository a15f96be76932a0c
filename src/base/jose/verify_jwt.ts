/**
 * The one way to verify a JWT of another party: form and header, the key of the party that must have signed it, the
 * signature, the claims, their times. No claim is believed before the signature is verified.
 */
import { type Clock, unixSeconds } from "../kernel/clock.ts";
import { type Mismatch, ok, type Result } from "../kernel/result.ts";
import { checkTimes, type TimeRules } from "./claim_times.ts";
import {
  type HeaderRules,
  inPart,
  type JsonObject,
  type JwtFault,
  readCompactJws,
  type UnverifiedJws,
  verifyClaims,
} from "./compact_jws.ts";

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
