/** A bank's private keys as CryptoKeys, each usable for one purpose only and not exportable. */
import { generateKeyPair, importPKCS8 } from "jose";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../../client/party/profile.ts";
import type { BankProfile } from "./bank_profile.ts";

/** A private key with the kid of its public half. */
export interface BankKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

export interface BankKeys {
  readonly signing: BankKey;
  readonly decryption: BankKey;
}

/** Imports the keys; the same promise for every call with the same profile object. */
export const bankKeys = oncePerProfile(importKeys);

/** The pair that a bank's tokens are bound to (RFC 9449 §5): generated once for a profile object, for it is slow. */
export const proofKeys = oncePerProfile((): Promise<CryptoKeyPair> => generateKeyPair(SIGNATURE_ALG));

function oncePerProfile<T>(
  build: (profile: BankProfile) => Promise<T>,
): (profile: BankProfile) => Promise<T> {
  const built = new WeakMap<BankProfile, Promise<T>>();
  return (profile) => {
    const value = built.get(profile) ?? build(profile);
    built.set(profile, value);
    return value;
  };
}

async function importKeys({ signing, decryption }: BankProfile): Promise<BankKeys> {
  const [signingKey, decryptionKey] = await Promise.all([
    importPKCS8(signing.keyPem, SIGNATURE_ALG),
    importPKCS8(decryption.keyPem, KEY_MANAGEMENT_ALG),
  ]);
  return {
    signing: { kid: signing.kid, key: signingKey },
    decryption: { kid: decryption.kid, key: decryptionKey },
  };
}
