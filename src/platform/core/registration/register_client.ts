/**
 * Dynamic client registration: the participant sends a software statement of the directory in a registration JWT. A
 * software has one registration. A newer statement updates it, and an older or equal one is rejected (Decision B6).
 */
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { mismatch } from "../../../base/kernel/result.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { statementId } from "../participants/software_statement.ts";
import type { LimitParticipant } from "../../guards/security/rate_limits.ts";
import { EXPIRY_SKEW_SECONDS } from "../../../base/limits.ts";
import type { StandingOf } from "../../guards/security/standing.ts";
import { spentJwtKey } from "../../config/store_keys.ts";
import type { Reader } from "../../../base/store/store.ts";
import {
  type RequestState,
  type TransactDeps,
  transactFor,
  type Transaction,
} from "../../../base/store/transaction.ts";
import {
  bankCodeOf,
  type Client,
  clientFrom,
  type DeletedClient,
  isNewerThan,
  type Registration,
  registrationTimes,
} from "./client.ts";
import type { Authentication } from "../../evidence/evidence.ts";
import type { ClientStore, Former } from "./client_store.ts";
import type { RegistrationJwtDeps, RegistrationRequest } from "./registration_jwt.ts";

export interface RegisterClientDeps extends TransactDeps, Pick<RegistrationJwtDeps, "keys"> {
  readonly clients: ClientStore;
  readonly standingOf: StandingOf;
  /** Stages the hold of a new bank after a restore. `at` is in milliseconds. */
  readonly holdNewBank: (tx: Transaction, bank: BankCode, at: number) => Promise<void>;
}

export interface RegisterClient extends RequestState {
  readonly request: RegistrationRequest;
  /** The certificate, and the registration JWT in the place of a client assertion. */
  readonly authentication: Authentication;
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
  const { request, authentication, replayRecords } = command;
  const { statement } = request;
  const now = deps.clock();
  if (!await deps.keys.ownsTransportKey(statement, authentication.certificate)) {
    const expected = "one of the participant of the software statement";
    throw new ApiError("certificate.not_participants", mismatch("client certificate", expected));
  }
  await command.limitParticipant(statement);
  replayRecords.pending.push({
    key: spentJwtKey("registration", statement.clientId, request.jti),
    expiresAt: Math.ceil(request.expiresAt + EXPIRY_SKEW_SECONDS) * 1000,
    rejection: "registration.invalid_client_metadata",
    fault: { at: "registration JWT jti", expected: "new for each registration", received: "one used before" },
  });
  return await transactFor(deps, command, { what: "registration" }, async (tx) => {
    const former = await deps.clients.readRegistered(tx, statement.clientId, bankCodeOf(statement));
    const deleted = former.client === null ? await deps.clients.findDeleted(tx, statement.clientId) : null;
    await rejectRollback(deps.clients, tx, request, { ...former, deleted });
    if (await deps.standingOf(statement) !== "active") { // Decision G5, contract OP4
      throw new ApiError("registration.unapproved_software_statement", "not active");
    }
    const times = { ...timesOf(former.client?.value, deleted?.value, now), updatedAt: now };
    const client = clientFrom(statement, request, times);
    const registration = { client, softwareStatement: statement.text };
    deps.clients.stageRegistration(tx, registration, { ...former, deleted }, authentication);
    const code = bankCodeOf(statement);
    if (former.client === null && code !== undefined) await deps.holdNewBank(tx, code, now);
    return registration;
  });
}

/** A client that registers again does not get the access tokens of its deleted registration back. */
function timesOf(
  registered: Client | undefined,
  deleted: DeletedClient | undefined,
  now: number,
): ReturnType<typeof registrationTimes> {
  if (registered !== undefined) return registrationTimes(registered);
  return { registeredAt: now, registration: (deleted?.registration ?? 0) + 1 };
}

/**
 * Rejects statements that must not replace the registration. The caller's certificate is verified by now, so the
 * response contains the reason (Decision G8).
 */
async function rejectRollback(
  clients: ClientStore,
  from: Reader,
  { statement, listed }: RegistrationRequest,
  { client, bank, deleted = null }: Former,
): Promise<void> {
  const known = (client ?? deleted)?.value;
  if (known !== undefined && known.orgId !== statement.orgId) {
    throw unusableStatement(
      "The software_client_id of the software statement is registered for another org_id.",
    );
  }
  if (known !== undefined && known.role !== statement.role) {
    throw unusableStatement(
      "The software_client_id of the software statement is registered with another role.",
    );
  }
  if (client !== null && !isNewerThan(statement.issuedAt, client.value)) {
    throw registeredAlready(client.value, await clients.findStatement(from, client.value.clientId));
  }
  const newest = Math.max(listed?.statementIssuedAt ?? 0, deleted?.value.statementIssuedAt ?? 0);
  if (statement.issuedAt < newest) {
    throw unusableStatement(
      `The directory has issued a newer software statement (iat ${newest}). Send that one.`,
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
