/** One bank's profile, customers, ledger, platform keys and connection to the platform. */
import { assembleBank, type Bank as Party, decryptionKey } from "../../client/bank/bank.ts";
import { type MutualTlsFetch, openMutualTls, ownFetch } from "../../client/party/mutual_tls.ts";
import { openSigner } from "../../client/party/signer.ts";
import type { BankClock, BankLog, BankProfile } from "./bank_profile.ts";
import type { Customer } from "./customers.ts";
import type { Faults } from "./faults.ts";
import type { Ledger } from "./ledger.ts";
import type { ReturnIds } from "./seal_return.ts";
import type { Sessions } from "./sessions.ts";
import type { Settlement } from "./settlement.ts";

/** Everything the routes of one bank use. */
export interface Bank {
  readonly profile: BankProfile;
  /** The bank as a client of the platform. */
  readonly party: Party;
  readonly customers: readonly Customer[];
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly faults: Faults;
  readonly returnIds: ReturnIds;
  readonly sessions: Sessions;
  readonly clock: BankClock;
  readonly log: BankLog;
  /** Waits so many milliseconds. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Lets so many milliseconds pass for all parts of the sandbox, by moving its clock or by waiting. */
  readonly letTimePass: (milliseconds: number) => Promise<void>;
}

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
