/** The registered client as the middleware sees it, and the ports that find clients and their keys. */
import type { Failure } from "../../../base/kernel/result.ts";
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";
import type { DocumentKind, NamedDocument } from "../../evidence/evidence.ts";
import type { Reader } from "../../../base/store/store.ts";

/**
 * The properties of a registered client that the middleware needs. `platform/core/registration/client.ts` has the others.
 */
export interface Caller {
  readonly clientId: ClientId;
  readonly orgId: string;
  readonly softwareId: string;
  readonly role: "PISP" | "ASPSP";
  /** For TPPs: the address to which events may be pushed, if any. */
  readonly eventNotificationUri?: string;
  readonly jwksUri: string;
  readonly revokedJwksUri: string;
  /** Which registration of the client it is, from 1. Access tokens of another one are not valid. */
  readonly registration: number;
  /** SHA-256 of its software statement, base64url. */
  readonly statementSha256: string;
}

/** Returns the software statements of the two parties of a consent, for its history. */
export function statementsInForce(tpp: Caller, bank: Caller): readonly NamedDocument[] {
  const named = (kind: DocumentKind, { statementSha256 }: Caller) => ({ kind, sha256: statementSha256 });
  return [named("tpp_statement", tpp), named("bank_statement", bank)];
}

/** A bank and its code in paths. */
export interface Bank extends Caller {
  readonly code: BankCode;
  /** Whether it shows its own consent screen. */
  readonly consentManagedByBank: boolean;
  /** The address to which payment orders are pushed; absent if the bank fetches them. */
  readonly paymentOrdersUri?: string;
}

/** Returns the registered client with this id, or null. */
export type FindCaller = (from: Reader, clientId: ClientId) => Promise<Caller | null>;

/** Returns the bank with this code, or null. */
export type FindBank = (from: Reader, code: BankCode) => Promise<Bank | null>;

type KeyOwner = Pick<Caller, "clientId" | "jwksUri" | "revokedJwksUri">;

/**
 * The participants' current keys, as the directory publishes them.
 *
 * Every method @throws {ApiError} `platform.unavailable` if the copy of the directory's data is too old
 */
export interface ParticipantKeys {
  /** Returns the caller's key that verifies a JWS: `use: sig`, this kid, not revoked. */
  signingKey(caller: KeyOwner, kid: string): Promise<CryptoKey | undefined>;
  /** Explains to the caller why none of its current signing keys has this kid. */
  kidFault(caller: KeyOwner, kid: unknown): Promise<Failure>;
  /** Whether the certificate's key is one of the caller's `use: tls` keys and not revoked. */
  ownsTransportKey(caller: KeyOwner, spkiThumbprint: string): Promise<boolean>;
}
