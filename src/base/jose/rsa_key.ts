/**
 * Checks and imports RSA public keys from JWKs: size, canonical form, public members only. A key must have exactly
 * one spelling, otherwise its thumbprint would not be unique (contract DP5, DP6, J33, J34).
 */
import { calculateJwkThumbprint } from "jose";
import { openRecentlyUsed } from "../kernel/recently_used.ts";
import { base64url } from "../kernel/identifiers.ts";
import { mismatch, ok, type Result } from "../kernel/result.ts";
import { MAX_RSA_BITS, MIN_RSA_BITS } from "../limits.ts";
import { isCanonicalBase64url, type JsonObject } from "./compact_jws.ts";

/** The public members of an RSA JWK with a checked form. */
export interface RsaPublicJwk {
  readonly kty: "RSA";
  readonly n: string;
  readonly e: string;
}

export type KeyPurpose = "verify" | "encrypt";

const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const ALGORITHM = {
  verify: { name: "RSA-PSS", hash: "SHA-256" },
  encrypt: { name: "RSA-OAEP", hash: "SHA-256" },
} as const;

/** Returns the public members of a usable RSA key. */
export function readRsaPublicJwk(jwk: unknown): Result<RsaPublicJwk> {
  if (typeof jwk !== "object" || jwk === null || Array.isArray(jwk)) return mismatch("jwk", "an object", jwk);
  const members = jwk as JsonObject;
  const { kty, n, e } = members;
  if (kty !== "RSA") return mismatch("jwk kty", "RSA", kty);
  if (PRIVATE_MEMBERS.some((name) => Object.hasOwn(members, name))) {
    return mismatch("jwk", "without private members");
  }
  if (typeof n !== "string" || typeof e !== "string") return mismatch("jwk", "an RSA key with n and e");
  if (e !== "AQAB") return mismatch("jwk e", "AQAB", e);
  if (!isCanonicalBase64url(n)) return mismatch("jwk n", "canonical base64url");
  if (n.length > Math.ceil(MAX_RSA_BITS / 6) + 1) return mismatch("jwk n", `at most ${MAX_RSA_BITS} bits`);
  const modulus = Uint8Array.fromBase64(n, { alphabet: "base64url" });
  const bits = modulusBits(modulus);
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
    return mismatch("jwk n", `${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`, bits);
  }
  if ((modulus.at(-1) ?? 0) % 2 === 0) return mismatch("jwk n", "odd"); // WebCrypto fails on it
  return ok({ kty: "RSA", n, e });
}

/** Imports a checked public key for one purpose. */
export function importRsaPublicKey(jwk: RsaPublicJwk, purpose: KeyPurpose): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", { ...jwk }, ALGORITHM[purpose], true, [purpose]);
}

/** The imported key of a DPoP proof. */
export interface ProofKey {
  readonly key: CryptoKey;
  /** {@link jwkThumbprint}. */
  readonly thumbprint: string;
}

const MAX_REMEMBERED_KEYS = 2000;

/** Imports keys of proofs. */
export interface ProofKeys {
  /** Imports a key and computes its thumbprint, unless they are cached. */
  find(jwk: RsaPublicJwk): Promise<ProofKey>;
  /** Caches a key that has just verified a proof. */
  remember(jwk: RsaPublicJwk, ready: ProofKey): void;
}

/**
 * Opens a cache of imported keys. Key and thumbprint depend on the modulus alone, so they are cached by it. The cache
 * contains no result about any proof. The entry that was unused longest is removed first.
 */
export function openProofKeys(): ProofKeys {
  const proven = openRecentlyUsed<ProofKey>(MAX_REMEMBERED_KEYS);
  return {
    async find(jwk) {
      const known = proven.get(jwk.n);
      if (known !== undefined) return known;
      const [key, thumbprint] = await Promise.all([importRsaPublicKey(jwk, "verify"), jwkThumbprint(jwk)]);
      return { key, thumbprint };
    },
    remember: (jwk, ready) => void proven.set(jwk.n, ready),
  };
}

/** RFC 7638 thumbprint with SHA-256, base64url. This is the `jkt` of DPoP. */
export function jwkThumbprint(jwk: RsaPublicJwk): Promise<string> {
  return calculateJwkThumbprint({ ...jwk }, "sha256");
}

/** SHA-256 of a public key's SubjectPublicKeyInfo DER, base64url. It identifies the key of a client certificate. */
export async function spkiThumbprint(spki: ArrayBuffer): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", spki)));
}

function modulusBits(modulus: Uint8Array): number {
  const first = modulus[0];
  if (first === undefined || first === 0) return 0; // a leading zero octet is another spelling of the same key
  return modulus.length * 8 - Math.clz32(first) + 24;
}
