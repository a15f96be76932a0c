/**
 * Dynamic client registration: the participant sends a software statement of the directory in a registration JWT. A
 * software has one registration. A newer statement updates it, and an older or equal one is rejected (Decision B6).
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { unixSeconds, wireDateTime } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import {
  readCompactJws,
  unverifiedClaims,
  type UnverifiedJws,
  verifyClaims,
} from "../../base/jose/compact_jws.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import {
  type SoftwareStatement,
  type SoftwareStatementDeps,
  statementId,
  verifySoftwareStatement,
} from "../participants/software_statement.ts";
import type { ListedStatus, StatusList } from "../participants/status_list.ts";
import type { LimitParticipant } from "../security/rate_limit.ts";
import { EXPIRY_SKEW_SECONDS } from "../../base/limits.ts";
import { MAX_REGISTRATION_JWT_CHARACTERS } from "../profile.ts";
import type { StandingOf } from "../security/standing.ts";
import { idPart, spentJwtKey } from "../store_keys.ts";
import type { Store } from "../../base/store/store.ts";
import { begin, commit, type ReplayRecords, untilCommitted } from "../../base/store/transaction.ts";
import { bankCodeOf, type Client, clientFrom, isNewerThan, type Registration } from "./client.ts";
import type { ClientStore, Registered } from "./client_store.ts";
import { readRegistration } from "./registration_jwt.ts";

export interface RegisterClientDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly clients: ClientStore;
  readonly keys: ParticipantKeySets;
  readonly statements: SoftwareStatementDeps;
  readonly statuses: Pick<StatusList, "find">;
  readonly standingOf: StandingOf;
  readonly audience: string;
  readonly loopbackRedirects: boolean;
}

export interface RegisterClient {
  readonly jwt: string;
  readonly spkiThumbprint: string;
  readonly replayRecords: ReplayRecords;
  readonly limitParticipant: LimitParticipant;
}

/**
 * Registers or updates a client.
 *
 * @throws {ApiError} `registration.*`, `certificate.*`, `request.rate_limited`, `platform.unavailable`
 */
export async function registerClient(
  deps: RegisterClientDeps,
  command: RegisterClient,
): Promise<Registration> {
  const now = deps.clock();
  const outer = readCompactJws(command.jwt, { maxCharacters: MAX_REGISTRATION_JWT_CHARACTERS, typ: ["JWT"] });
  if (!outer.ok) throw invalid(outer.why);
  const statement = await verifySoftwareStatement(
    deps.statements,
    carriedStatement(outer.value),
    unixSeconds(now),
  );
  // Read before the keys are fetched, so that the keys have at least this version. A client that is not listed was
  // just onboarded.
  const listed = await deps.statuses.find(statement.clientId, "at once");
  const request = await verifiedRequest(deps, outer.value, statement, unixSeconds(now));
  if (!await deps.keys.ownsTransportKey(statement, command.spkiThumbprint)) {
    throw new ApiError("certificate.not_participants", "certificate of another participant");
  }
  await command.limitParticipant(statement);
  command.replayRecords.pending.push({
    key: spentJwtKey("registration", statement.clientId, await idPart(request.jti)),
    expiresAt: Math.ceil(request.expiresAt + EXPIRY_SKEW_SECONDS) * 1000,
    rejection: "registration.invalid_client_metadata",
    description: "A registration JWT with this jti was used before. Sign a new one with a new jti.",
  });
  return await untilCommitted("registration", async () => {
    const former = await deps.clients.readRegistered(statement.clientId, bankCodeOf(statement));
    await rejectRollback(deps.clients, statement, former, listed);
    if (await deps.standingOf(statement) !== "active") { // Decision G5
      throw new ApiError("registration.unapproved_software_statement", "not active");
    }
    const registeredAt = former.client?.value.registeredAt ?? now;
    const client = clientFrom(statement, request, { registeredAt, updatedAt: now });
    const tx = begin(command.replayRecords);
    const registration = { client, softwareStatement: statement.text };
    deps.clients.stageRegistration(tx, registration, former);
    return await commit(deps.store, deps.clock, tx) ? registration : undefined;
  });
}

function carriedStatement(outer: UnverifiedJws): string {
  const claims = unverifiedClaims(outer);
  if (!claims.ok) throw invalid(claims.why);
  const statement = claims.value["software_statement"];
  if (typeof statement === "string") return statement;
  // A JWT of another kind is rejected as such. A registration JWT without a statement is rejected for the missing
  // statement.
  throw Object.hasOwn(claims.value, "redirect_uris")
    ? invalidStatement("none")
    : invalid("no registration JWT");
}

async function verifiedRequest(
  deps: RegisterClientDeps,
  outer: UnverifiedJws,
  statement: SoftwareStatement,
  now: number,
): Promise<ReturnType<typeof readRegistration>> {
  const kid = outer.header["kid"];
  const key = typeof kid === "string" ? await deps.keys.signingKey(statement, kid) : undefined;
  if (key === undefined) throw invalid("kid is no current signing key of the participant");
  const claims = await verifyClaims(outer, key);
  if (!claims.ok) throw invalid(claims.why);
  return readRegistration(claims.value, statement, {
    audience: deps.audience,
    loopbackRedirects: deps.loopbackRedirects,
    now,
  });
}

/**
 * Rejects statements that must not replace the registration. The caller's certificate is verified by now, so the
 * response contains the reason (Decision G8).
 */
async function rejectRollback(
  clients: ClientStore,
  statement: SoftwareStatement,
  { client, bank }: Registered,
  listed: ListedStatus | undefined,
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
    throw registeredAlready(client.value, await clients.findStatement(client.value.clientId));
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

function invalid(why: string): ApiError {
  return new ApiError("registration.invalid_client_metadata", why);
}

function unusableStatement(description: string): ApiError {
  return new ApiError("registration.invalid_software_statement", { detail: description, description });
}

function invalidStatement(why: string): ApiError {
  return new ApiError("registration.invalid_software_statement", why);
}
