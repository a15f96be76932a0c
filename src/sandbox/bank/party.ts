/** A sandbox bank as a client of the platform: the client library's half, with the credentials of its profile. */
import { assembleBank, type Bank as Party, decryptionKey } from "../../client/bank/bank.ts";
import { openMutualTls, ownFetch } from "../../client/party/mutual_tls.ts";
import type { MutualTlsFetch } from "../../client/party/mutual_tls.ts";
import { openSigner } from "../../client/party/signer.ts";
import type { BankClock, BankProfile } from "./bank_profile.ts";

/** The platform's addresses, and how a bank reaches it. */
export interface PartyDeps {
  readonly baseUrl: string;
  readonly authUrl: string;
  /** PEM of the CA that issued the certificate of the platform's API host. */
  readonly caPem: string;
  readonly clock: BankClock;
  /** HTTP to the platform; default: mTLS with the bank's network certificate. */
  readonly fetch?: MutualTlsFetch;
}

/** Sends no request yet. @throws {SettingsError} if a key cannot be used */
export async function openParty(
  { signing, decryption, transport, trustAnchor, ...profile }: BankProfile,
  { baseUrl, authUrl, caPem, clock, fetch }: PartyDeps,
): Promise<Party> {
  const [signer, key] = await Promise.all([
    openSigner(signing.kid, signing.keyPem),
    decryptionKey(decryption.kid, decryption.keyPem),
  ]);
  const connection = fetch === undefined
    ? openMutualTls(transport, caPem)
    : { fetch: ownFetch(fetch), close: () => {} };
  const participant = {
    orgId: profile.orgId,
    orgName: profile.displayName,
    softwareClientId: profile.clientId,
    clientId: profile.clientId,
    redirectUris: [],
    signer,
    softwareStatement: "",
  };
  const endpoints = { base_url: baseUrl, auth_url: authUrl, directory_url: `https://${trustAnchor}` };
  const options = { endpoints, signatureProfile: profile.signatureProfile, now: clock };
  return assembleBank(options, { participant, decryption: { kid: decryption.kid, key }, ...connection });
}
