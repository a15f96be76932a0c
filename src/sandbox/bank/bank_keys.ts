/** A bank's private keys as CryptoKeys, each usable for one purpose only and not exportable. */
import { importPKCS8 } from "jose";
import { KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../../client/profile.ts";
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
export function bankKeys(profile: BankProfile): Promise<BankKeys> {
  const known = imported.get(profile);
  if (known !== undefined) return known;
  const keys = importKeys(profile);
  imported.set(profile, keys);
  return keys;
}

const imported = new WeakMap<BankProfile, Promise<BankKeys>>();

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
