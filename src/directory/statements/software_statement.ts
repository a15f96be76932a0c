/**
 * The software statement assertion about a participant's software (contract SS1 to SS10). The caller ensures that `iat`
 * only increases.
 */
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import { type OwnKey, signClaims } from "../../base/jose/own_key.ts";
import { FUTURE_SKEW_SECONDS, MAX_JWT_CHARACTERS, SIGNATURE_ALG } from "../../base/limits.ts";
import { invalidRequest } from "../participants/rejections.ts";
import type { Participant, Role } from "../participants/participant.ts";
import { unixSeconds } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";

/** Contents of a statement besides the participant's own data. */
export interface StatementTerms {
  readonly issuer: string;
  readonly environment: string;
  readonly statementDays: number;
}

const DAY_SECONDS = 86_400;
const ORG_TYPE: Readonly<Record<Role, string>> = { PISP: "third party provider", ASPSP: "bank" };

/**
 * Signs a statement about the participant's current data, issued at its `statementIat`.
 *
 * @throws {ApiError} `directory.invalid_request` if it would be longer than relying parties accept
 */
export async function signStatement(
  signer: OwnKey,
  terms: StatementTerms,
  participant: Participant,
): Promise<string> {
  const statement = await signClaims(statementClaims(terms, participant), signer);
  if (statement.length <= MAX_JWT_CHARACTERS) return statement;
  throw invalidRequest([
    `software: its addresses and texts make a statement of more than ${MAX_JWT_CHARACTERS} characters`,
  ]);
}

function statementClaims(terms: StatementTerms, participant: Participant): JsonObject {
  const { software, orgId } = participant;
  const home = `${terms.issuer}/participants/${orgId}`;
  return {
    iss: terms.issuer,
    iat: software.statementIat,
    exp: software.statementIat + terms.statementDays * DAY_SECONDS,
    jti: crypto.randomUUID(),
    org_id: orgId,
    org_name: participant.orgName,
    org_type: ORG_TYPE[participant.role],
    registration_number: participant.registrationNumber,
    software_id: software.clientId,
    software_client_id: software.clientId,
    software_client_name: software.clientName,
    software_client_description: software.description,
    software_client_uri: software.clientUri,
    software_client_status: software.status,
    software_version: software.version,
    software_environment: terms.environment,
    software_roles: [participant.role],
    software_redirect_uris: software.redirectUris,
    logo_uri: software.logoUri,
    consent_managedby_bank: software.consentManagedByBank,
    ...(software.resultsOnBackChannel ? { results_on_back_channel: true } : {}),
    ...(software.paymentOrdersUri === undefined ? {} : { payment_orders_uri: software.paymentOrdersUri }),
    ...(software.eventNotificationUri === undefined
      ? {}
      : { event_notification_uri: software.eventNotificationUri }),
    org_jwks_endpoint: `${home}/jwks`,
    org_jwks_revoked_endpoint: `${home}/jwks/revoked`,
    id_token_signed_response_alg: SIGNATURE_ALG,
  };
}

/** Half of relying parties' tolerance; the other half is for their clock skew. */
const MAX_AHEAD_SECONDS = FUTURE_SKEW_SECONDS / 2;

/**
 * The participant with the `iat` of its next statement. Relying parties reject a statement that is not newer than the last
 * (Decision B6), so `iat` strictly increases per software, even within one second. It never runs far ahead of the clock.
 *
 * @throws {ApiError} `request.rate_limited` after so many statements within a short time that the next would lie in the
 * future
 */
export function withNextStatement(participant: Participant, now: number): Participant {
  const earliest = unixSeconds(now);
  const statementIat = Math.max(earliest, participant.software.statementIat + 1);
  if (statementIat > earliest + MAX_AHEAD_SECONDS) {
    throw new ApiError("request.rate_limited", {
      retryAfterSeconds: statementIat - earliest - MAX_AHEAD_SECONDS,
    });
  }
  return { ...participant, software: { ...participant.software, statementIat } };
}
