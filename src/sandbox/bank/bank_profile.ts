/**
 * Codes, credentials and onboarding choices of a sandbox bank. Plain data: `load_bank.ts` reads it from files,
 * `party.ts` imports the keys.
 */
import type { SignatureProfile } from "../../client/party/payload_signature.ts";

/** Who shows the consent screen of an explicit consent (contract PN6 to PN8). */
export type ConsentScreen = "platform" | "bank";

/** A PKCS#8 PEM and the `kid` under which its public half is in the bank's key set. */
export interface PrivateKeyPem {
  readonly keyPem: string;
  readonly kid: string;
}

/** One bank of the sandbox with everything it got at onboarding. */
export interface BankProfile {
  /** `{BANK}` in every path; equals `orgId` for banks (Decision A4). */
  readonly code: string;
  readonly displayName: string;
  readonly consentScreen: ConsentScreen;
  /** Whether customers may confirm in an app on another device: the bank delivers results on the back channel. */
  readonly hasApp: boolean;
  readonly signatureProfile: SignatureProfile;
  readonly orgId: string;
  readonly clientId: string;
  /** Signs client assertions, payload signatures and handover JWTs. */
  readonly signing: PrivateKeyPem;
  /** Decrypts handover JWTs: the `enc` key, or the `tls` key if the bank has none (Decision A10). */
  readonly decryption: PrivateKeyPem;
  /** Network certificate and its key for the mTLS handshake. */
  readonly transport: { readonly certPem: string; readonly keyPem: string };
  /** `host[:port]` of the directory, the OBIE trust anchor (`tan`). */
  readonly trustAnchor: string;
}

/** Unix time in milliseconds. */
export type BankClock = () => number;

/** Writes one event. Fields never carry tokens, JWTs, codes or passwords. */
export type BankLog = (event: string, fields?: Readonly<Record<string, string | number | boolean>>) => void;
