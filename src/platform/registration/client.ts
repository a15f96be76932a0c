/** A registered client: what a software statement and its registration request, both verified, amount to. */
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { asBankCode } from "../../base/kernel/identifiers.ts";
import type { SoftwareStatement } from "../participants/software_statement.ts";

/** A client as registered. Its keys are not here: they are the directory's to publish and revoke. */
export interface Client {
  readonly clientId: ClientId;
  readonly orgId: string;
  /** Legal name, verified by the directory. */
  readonly orgName: string;
  /** In the register of companies, verified by the directory. Records from before it was kept have none. */
  readonly registrationNumber?: string;
  readonly softwareId: string;
  readonly softwareName: string;
  /** Its own web page, for links back to it. Records from before it was kept have none. */
  readonly clientUri?: string;
  readonly role: "PISP" | "ASPSP";
  readonly scope: "payments" | "bank";
  readonly grantTypes: readonly string[];
  readonly redirectUris: readonly string[];
  readonly jwksUri: string;
  readonly revokedJwksUri: string;
  /** Banks: whether the bank shows its own consent screen. */
  readonly consentManagedByBank: boolean;
  /** Banks: where payment orders are pushed to, if anywhere (Decision D4). */
  readonly paymentOrdersUri?: string;
  /** Unix seconds, `iat` of the statement it stands on. */
  readonly statementIssuedAt: number;
  /** `iat` of the statement of the last registration, if the directory's newer one has been applied since. */
  readonly registeredWith?: number;
  /** Of the first registration, milliseconds. */
  readonly registeredAt: number;
  /** Of the newest one, milliseconds. */
  readonly updatedAt: number;
}

/** A client as registered, and the statement that it stands on, as signed. */
export interface Registration {
  readonly client: Client;
  readonly softwareStatement: string;
}

/** A registered bank. */
export interface BankClient extends Client {
  readonly role: "ASPSP";
  readonly code: BankCode;
}

/** The client that a statement and its accepted metadata make. */
export function clientFrom(
  statement: SoftwareStatement,
  metadata: { readonly redirectUris: readonly string[]; readonly grantTypes: readonly string[] },
  times: { readonly registeredAt: number; readonly updatedAt: number },
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
    role,
    jwksUri,
    revokedJwksUri,
    scope: role === "PISP" ? "payments" : "bank",
    grantTypes: metadata.grantTypes,
    redirectUris: metadata.redirectUris,
    consentManagedByBank: statement.consentManagedByBank,
    ...(statement.paymentOrdersUri === undefined ? {} : { paymentOrdersUri: statement.paymentOrdersUri }),
    statementIssuedAt: statement.issuedAt,
    registeredAt: times.registeredAt,
    updatedAt: times.updatedAt,
  };
}

/**
 * The client as the directory's newer statement has it. Redirect URLs that the statement has dropped are dropped; a TPP
 * adds new ones by registering again, a bank has the statement's one. Undefined if a bank's one is not to be told.
 */
export function restated(client: Client, statement: SoftwareStatement, now: number): Client | undefined {
  const kept = client.redirectUris.filter((uri) => statement.redirectUris.includes(uri));
  const redirectUris = client.role === "ASPSP" && kept.length === 0 ? statement.redirectUris : kept;
  if (client.role === "ASPSP" && redirectUris.length !== 1) return undefined;
  const { grantTypes, registeredAt, registeredWith = client.statementIssuedAt } = client;
  const times = { registeredAt, updatedAt: now };
  return { ...clientFrom(statement, { redirectUris, grantTypes }, times), registeredWith };
}

/** Whether a registration by this statement is a new one: not used before, and not older than the one in force. */
export function isNewerThan(
  issuedAt: number,
  { statementIssuedAt, registeredWith = statementIssuedAt }: Client,
): boolean {
  return issuedAt >= statementIssuedAt && issuedAt > registeredWith;
}

/** The client as a bank, where it is one. */
export function asBank(client: Client): BankClient | null {
  const code = bankCodeOf(client);
  return code === undefined ? null : { ...client, role: "ASPSP", code };
}

/** A bank's code, which is its org_id (Decision A4); undefined for a TPP. */
export function bankCodeOf({ role, orgId }: Pick<Client, "role" | "orgId">): BankCode | undefined {
  return role === "ASPSP" ? asBankCode(orgId) : undefined;
}
