/**
 * A participant's public key with its certificate, and the sets that the directory publishes: active and revoked keys.
 * A key that left the active set never returns to it. No I/O.
 */
import type { WallTime } from "../../base/kernel/clock.ts";
import { isTrusted, type Participant } from "./participant.ts";

/** The use of a key: signatures, the network (mTLS), encryption to the participant (Decision E4). */
export type KeyUse = "sig" | "tls" | "enc";

/** Why and when a key was revoked. */
export interface Revocation {
  /** Milliseconds. */
  readonly at: WallTime;
  readonly reason: string;
}

/** A certified key. Times in milliseconds. */
export interface CertifiedKey {
  /** x5t of its certificate (Decision E4). */
  readonly kid: string;
  readonly use: KeyUse;
  readonly n: string;
  readonly e: string;
  /** The certificate, base64 of the DER: a member of `x5c`. */
  readonly certificate: string;
  readonly x5tS256: string;
  /** RFC 7638 thumbprint of the public key. */
  readonly thumbprint: string;
  readonly issuedAt: WallTime;
  readonly notBefore: WallTime;
  readonly notAfter: WallTime;
  readonly revoked?: Revocation;
}

/** A key that is no longer trusted, with the reason. */
export interface RevokedKey {
  readonly key: CertifiedKey;
  readonly revocation: Revocation;
}

/** The keys that clients may trust; empty unless the organisation and its software are Active. */
export function activeKeys(
  participant: Participant,
  keys: readonly CertifiedKey[],
  now: WallTime,
): CertifiedKey[] {
  if (!isTrusted(participant)) return [];
  return keys.filter((key) => key.revoked === undefined && now < key.notAfter);
}

/**
 * The keys that clients must reject: revoked ones, and every key of a revoked software client. Keys leave the set when
 * their certificates have expired (as CRL entries do, RFC 5280 §3.3), so that the set stays bounded.
 */
export function revokedKeys(
  participant: Participant,
  keys: readonly CertifiedKey[],
  now: WallTime,
): RevokedKey[] {
  return keys.filter((key) => now < key.notAfter).flatMap((key) => {
    const revocation = key.revoked ?? revocationBySoftware(participant);
    return revocation === undefined ? [] : [{ key, revocation }];
  });
}

function revocationBySoftware({ software }: Participant): Revocation | undefined {
  return software.status === "Revoked" ? { at: software.statusAt, reason: "software revoked" } : undefined;
}
