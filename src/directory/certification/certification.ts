/**
 * Certification reports of a participant: the newest ones are kept, and the newest decides whether a statement may be
 * issued (Decision E5). No I/O.
 */
import type { Certifiers } from "./certifiers.ts";

/** A certification report without its cases. Times in milliseconds. */
export interface Certification {
  /** Hash of the report's `iss` and `jti`. */
  readonly id: string;
  /** The certifier's address. */
  readonly certifier: string;
  /** The certifier's key. */
  readonly kid: string;
  /** Name and version of the suite. */
  readonly suite: string;
  readonly passed: boolean;
  /** Number of cases, and of those that failed. */
  readonly cases: number;
  readonly failed: number;
  readonly issuedAt: number;
  readonly receivedAt: number;
}

/** The certification that a directory asks for. */
export interface CertificationTerms {
  readonly certifiers: Certifiers;
  /** Greatest age of the report that a statement needs, days. Absent: statements need none. */
  readonly requiredDays?: number | undefined;
}

/** Reports kept for each participant. */
export const MAX_CERTIFICATIONS = 10;

const DAY_MS = 86_400_000;

/** The lists after a new report: what is kept, newest first, and what is removed. */
export function withCertification(
  kept: readonly Certification[],
  added: Certification,
): { readonly kept: readonly Certification[]; readonly removed: readonly Certification[] } {
  const all = [added, ...kept].toSorted((a, b) => b.issuedAt - a.issuedAt);
  return { kept: all.slice(0, MAX_CERTIFICATIONS), removed: all.slice(MAX_CERTIFICATIONS) };
}

/**
 * Returns the reason why a statement lacks a certification, or undefined. The newest report of any suite counts, so
 * that a failed run is not hidden by a passed one before it.
 */
export function missingCertification(
  { certifiers, requiredDays }: CertificationTerms,
  kept: readonly Certification[],
  now: number,
): string | undefined {
  if (requiredDays === undefined) return undefined;
  const [newest] = kept;
  if (newest === undefined) return "the participant has none";
  const named = `its newest, ${newest.suite} of ${new Date(newest.issuedAt).toISOString()}`;
  if (certifiers.find(newest.kid) === undefined) {
    return `${named}, has a certifier that is not configured any more`;
  }
  if (!newest.passed) return `${named}, has not passed`;
  if (now - newest.issuedAt > requiredDays * DAY_MS) return `${named}, is older than ${requiredDays} days`;
  return undefined;
}
