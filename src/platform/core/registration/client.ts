/** A registered client, derived from a verified software statement and registration request. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { Recorded } from "../../evidence/audit_trail.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { asBankCode } from "../../../base/kernel/identifiers.ts";
import { sharedDocument } from "../../evidence/evidence.ts";
import type { SoftwareStatement } from "../participants/software_statement.ts";

/** The statement's facts that a client keeps. */
type StatedSoftware = Omit<SoftwareStatement, "issuedAt" | "text">;

/** A client as registered. It does not contain keys, because the directory publishes and revokes them. */
export interface Client extends Recorded, StatedSoftware {
  readonly scope: "payments" | "bank";
  readonly grantTypes: readonly string[];
  /** Unix seconds. `iat` of its current statement. */
  readonly statementIssuedAt: number;
  /** `iat` of the statement of the last registration, if a newer one from the directory has been applied since. */
  readonly registeredWith?: number;
  /** SHA-256 of its current statement, base64url. */
  readonly statementSha256: string;
  /** Milliseconds. The first registration. */
  readonly registeredAt: WallTime;
  /** Milliseconds. The last update. */
  readonly updatedAt: WallTime;
  /** Which registration of the client it is, from 1. Access tokens of a deleted one are not valid. */
  readonly registration: number;
}

/** The remains of a client that has deleted its registration, until it registers again. */
export interface DeletedClient
  extends Recorded, Pick<Client, "orgId" | "role" | "statementIssuedAt" | "registration"> {
  /** Milliseconds. */
  readonly deletedAt: WallTime;
}

/** A registered client and its current signed statement. */
export interface Registration {
  readonly client: Client;
  readonly softwareStatement: string;
}

export interface BankClient extends Client {
  readonly role: "ASPSP";
  readonly code: BankCode;
}

/** What people read for a client id. */
export function nameOfClient({ orgName, softwareName }: Pick<Client, "orgName" | "softwareName">): string {
  return `${orgName} · ${softwareName}`;
}

/** Builds the client from a statement and the accepted metadata. */
export function clientFrom(
  statement: SoftwareStatement,
  metadata: { readonly redirectUris: readonly string[]; readonly grantTypes: readonly string[] },
  times: Pick<Client, "registeredAt" | "updatedAt" | "registration">,
): Client {
  const { clientId, orgId, orgName, softwareId, softwareName, role, jwksUri, revokedJwksUri } = statement;
  return {
    clientId,
    orgId,
    orgName,
    ...(statement.registrationNumber === undefined
      ? {}
      : { registrationNumber: statement.registrationNumber }),
    softwareId,
    softwareName,
    ...(statement.clientUri === undefined ? {} : { clientUri: statement.clientUri }),
    ...(statement.logoUri === undefined ? {} : { logoUri: statement.logoUri }),
    role,
    jwksUri,
    revokedJwksUri,
    scope: role === "PISP" ? "payments" : "bank",
    grantTypes: metadata.grantTypes,
    redirectUris: metadata.redirectUris,
    consentManagedByBank: statement.consentManagedByBank,
    resultsOnBackChannel: statement.resultsOnBackChannel,
    ...(statement.paymentOrdersUri === undefined ? {} : { paymentOrdersUri: statement.paymentOrdersUri }),
    ...(statement.eventNotificationUri === undefined
      ? {}
      : { eventNotificationUri: statement.eventNotificationUri }),
    statementIssuedAt: statement.issuedAt,
    statementSha256: sharedDocument(statement.text).sha256,
    ...times,
  };
}

/**
 * Returns the client with the directory's newer statement applied. Redirect URLs that are no longer in the statement
 * are removed. A TPP adds new ones by registering again. A bank gets the statement's only one. Returns undefined if
 * it is a bank and its redirect URL is ambiguous.
 */
export function applyStatement(
  client: Client,
  statement: SoftwareStatement,
  now: WallTime,
): Client | undefined {
  const kept = client.redirectUris.filter((uri) => statement.redirectUris.includes(uri));
  const redirectUris = client.role === "ASPSP" && kept.length === 0 ? statement.redirectUris : kept;
  if (client.role === "ASPSP" && redirectUris.length !== 1) return undefined;
  const { grantTypes, registeredWith = client.statementIssuedAt } = client;
  const times = { ...registrationTimes(client), updatedAt: now };
  return { ...clientFrom(statement, { redirectUris, grantTypes }, times), registeredWith };
}

/** What the updates of a registration keep. */
export function registrationTimes(
  { registeredAt, registration }: Pick<Client, "registeredAt" | "registration">,
): Pick<Client, "registeredAt" | "registration"> {
  return { registeredAt, registration };
}

/**
 * Whether a registration with this statement is new: the statement was not used before and is not older than the
 * current one.
 */
export function isNewerThan(
  issuedAt: number,
  { statementIssuedAt, registeredWith = statementIssuedAt }: Client,
): boolean {
  return issuedAt >= statementIssuedAt && issuedAt > registeredWith;
}

/** Returns the client as a bank, or null if it is not one. */
export function asBank(client: Client): BankClient | null {
  const code = bankCodeOf(client);
  return code === undefined ? null : { ...client, role: "ASPSP", code };
}

/** Returns a bank's code, which is its org_id (Decision A4), or undefined for a TPP. */
export function bankCodeOf({ role, orgId }: Pick<Client, "role" | "orgId">): BankCode | undefined {
  return role === "ASPSP" ? asBankCode(orgId) : undefined;
}
