/** The registered client as guards see it, and the ports through which they learn about it. */
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import type { Reader } from "../../base/store/store.ts";

/** What a guard needs to know of a registered client; `platform/registration/client.ts` has the rest. */
export interface Caller {
  readonly clientId: ClientId;
  readonly orgId: string;
  readonly softwareId: string;
  readonly role: "PISP" | "ASPSP";
  readonly jwksUri: string;
  readonly revokedJwksUri: string;
}

/** A bank that can be addressed: the caller it registered as. */
export interface Bank extends Caller {
  readonly code: BankCode;
  /** Whether it shows its own consent screen. */
  readonly consentManagedByBank: boolean;
  /** Where payment orders are pushed to; absent where it pulls them. */
  readonly paymentOrdersUri?: string;
}

/** The client with this id, or null where none registered; `from` what the request has read, where it may have. */
export type FindCaller = (clientId: ClientId, from?: Reader) => Promise<Caller | null>;

/** The bank with this code, or null; `from` as for {@link FindCaller}. */
export type FindBank = (code: BankCode, from?: Reader) => Promise<Bank | null>;

/**
 * The participants' keys, as the directory publishes them now.
 *
 * Every method @throws {ApiError} `platform.unavailable` where the directory's word is too old to go by.
 */
export interface ParticipantKeys {
  /** The key to verify the caller's JWS with: `use: sig`, this kid, not revoked. */
  signingKey(caller: Caller, kid: string): Promise<CryptoKey | undefined>;
  /** Whether the certificate key is one of the caller's `use: tls` keys, not revoked. */
  ownsTransportKey(caller: Caller, spkiThumbprint: string): Promise<boolean>;
}
