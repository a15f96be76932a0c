/** Key sets on the wire (Decision E4; RFC 7517). Public members only. */
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../../base/limits.ts";
import type { CertifiedKey, KeyUse, RevokedKey } from "../participants/certified_key.ts";

/** JWK sets (RFC 7517 §8.5.2). */
export const JWK_SET_TYPE = "application/jwk-set+json";
/** PEM files. */
export const PEM_TYPE = "application/x-pem-file";

/** A JWK set. */
export interface KeySet {
  readonly keys: readonly JsonObject[];
}

/** The active keys: by use, oldest first, so that a new key is last. */
export function keySet(keys: readonly CertifiedKey[]): KeySet {
  return { keys: inOrder(keys, (key) => key).map(publicJwk) };
}

/** The revoked keys, each with time and reason, in the same order. */
export function revokedKeySet(revoked: readonly RevokedKey[]): KeySet {
  const keys = inOrder(revoked, ({ key }) => key).map(({ key, revocation }) => ({
    ...publicJwk(key),
    revoked_at: new Date(revocation.at).toISOString(),
    reason: revocation.reason,
  }));
  return { keys };
}

// A network key has no alg: TLS negotiates the signature algorithm.
const ALG: Readonly<Record<KeyUse, JsonObject>> = {
  sig: { alg: SIGNATURE_ALG },
  tls: {},
  enc: { alg: KEY_MANAGEMENT_ALG },
};

function publicJwk({ kid, use, n, e, certificate, x5tS256 }: CertifiedKey): JsonObject {
  return { kty: "RSA", use, kid, ...ALG[use], n, e, x5c: [certificate], x5t: kid, "x5t#S256": x5tS256 };
}

const USES: readonly KeyUse[] = ["sig", "tls", "enc"];

function inOrder<T>(values: readonly T[], keyOf: (value: T) => CertifiedKey): T[] {
  return [...values].sort((left, right) => {
    const [a, b] = [keyOf(left), keyOf(right)];
    const byUse = USES.indexOf(a.use) - USES.indexOf(b.use);
    return byUse || a.issuedAt - b.issuedAt || (a.kid < b.kid ? -1 : 1);
  });
}
