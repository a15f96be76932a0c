/**
 * Dynamic client registration: the participant sends a software statement of the directory in a registration JWT. A
 * software has one registration. A newer statement updates it, and an older or equal one is rejected (Decision B6).
 */
import { wireDateTime } from "../../base/kernel/clock.ts";
import { mismatch } from "../../base/kernel/result.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { statementId } from "../participants/software_statement.ts";
import type { LimitParticipant } from "../security/rate_limit.ts";
import { EXPIRY_SKEW_SECONDS } from "../../base/limits.ts";
import type { StandingOf } from "../security/standing.ts";
import { idPart, spentJwtKey } from "../store_keys.ts";
import type { Reader } from "../../base/store/store.ts";
import { type RequestState, transact, type TransactDeps } from "../../base/store/transaction.ts";
import { bankCodeOf, type Client, clientFrom, isNewerThan, type Registration } from "./client.ts";
import type { ClientStore, Registered } from "./client_store.ts";
import type { RegistrationJwtDeps, RegistrationRequest } from "./registration_jwt.ts";

export interface RegisterClientDeps extends TransactDeps, Pick<RegistrationJwtDeps, "keys"> {
  readonly clients: ClientStore;
  readonly standingOf: StandingOf;
}

export interface RegisterClient extends RequestState {
  readonly request: RegistrationRequest;
  readonly spkiThumbprint: string;
  readonly limitParticipant: LimitParticipant;
}

/**
 * Registers or updates the client that a verified request names.
 *
 * @throws {ApiError} `registration.*`, `certificate.*`, `request.rate_limited`, `platform.unavailable`
 */
export async function registerClient(
  deps: RegisterClientDeps,
  command: RegisterClient,
): Promise<Registration> {
  const { request, replayRecords } = command;
  const { statement } = request;
  const now = deps.clock();
  if (!await deps.keys.ownsTransportKey(statement, command.spkiThumbprint)) {
    const expected = "one of the participant of the software statement";
    throw new ApiError("certificate.not_participants", mismatch("client certificate", expected));
  }
  await command.limitParticipant(statement);
  replayRecords.pending.push({
    key: spentJwtKey("registration", statement.clientId, await idPart(request.jti)),
    expiresAt: Math.ceil(request.expiresAt + EXPIRY_SKEW_SECONDS) * 1000,
    rejection: "registration.invalid_client_metadata",
    fault: { at: "registration JWT jti", expected: "new for each registration", received: "one used before" },
  });
  return await transact(deps, { what: "registration", request: command }, async (tx) => {
    const former = await deps.clients.readRegistered(tx, statement.clientId, bankCodeOf(statement));
    await rejectRollback(deps.clients, tx, request, former);
    if (await deps.standingOf(statement) !== "active") { // Decision G5
      throw new ApiError("registration.unapproved_software_statement", "not active");
    }
    const registeredAt = former.client?.value.registeredAt ?? now;
    const client = clientFrom(statement, request, { registeredAt, updatedAt: now });
    const registration = { client, softwareStatement: statement.text };
    deps.clients.stageRegistration(tx, registration, former);
    return registration;
  });
}

/**
 * Rejects statements that must not replace the registration. The caller's certificate is verified by now, so the
 * response contains the reason (Decision G8).
 */
async function rejectRollback(
  clients: ClientStore,
  from: Reader,
  { statement, listed }: RegistrationRequest,
  { client, bank }: Registered,
): Promise<void> {
  if (client !== null && client.value.orgId !== statement.orgId) {
    throw unusableStatement(
      "The software_client_id of the software statement is registered for another org_id.",
    );
  }
  if (client !== null && client.value.role !== statement.role) {
    throw unusableStatement(
      "The software_client_id of the software statement is registered with another role.",
    );
  }
  if (client !== null && !isNewerThan(statement.issuedAt, client.value)) {
    throw registeredAlready(client.value, await clients.findStatement(from, client.value.clientId));
  }
  if (listed !== undefined && statement.issuedAt < listed.statementIssuedAt) {
    throw unusableStatement(
      `The directory has issued a newer software statement (iat ${listed.statementIssuedAt}). Send that one.`,
    );
  }
  if (bank !== null && bank.value.clientId !== statement.clientId) {
    throw unusableStatement(
      "The org_id of the software statement is the code of a bank that is registered with another " +
        "software_client_id.",
    );
  }
}

/** A jti that may be part of an `error_description`. */
const SHOWABLE_ID = /^[\w.:-]{1,128}$/;

function registeredAlready({ clientId, statementIssuedAt: iat }: Client, statement: string | null): ApiError {
  const id = statement === null ? undefined : statementId(statement);
  const named = id === undefined || !SHOWABLE_ID.test(id) ? `iat ${iat}` : `iat ${iat}, jti ${id}`;
  return unusableStatement(
    `Client ${clientId} is registered already, with the software statement that was issued at ` +
      `${wireDateTime(iat * 1000)} (${named}). ` +
      "To update the registration, send a statement that was issued later.",
  );
}

function unusableStatement(description: string): ApiError {
  return new ApiError("registration.invalid_software_statement", { detail: description, description });
}
