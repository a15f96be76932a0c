/**
 * Verifies a registration JWT: its software statement with a key of the directory, the JWT with a key of the
 * participant that the statement names, and its claims against the statement (contract DC6-DC10).
 */
import { noteReceived } from "../../../base/http/context.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { failed, type Failure, mismatch, ok, type Result, within } from "../../../base/kernel/result.ts";
import {
  inPart,
  type JwtFault,
  unverifiedClaims,
  type UnverifiedJws,
} from "../../../base/jose/compact_jws.ts";
import { type Signer, verifyJwt } from "../../../base/jose/verify_jwt.ts";
import type { ParticipantKeySets } from "../participants/participant_keys.ts";
import {
  type SoftwareStatement,
  type SoftwareStatementDeps,
  type StatementFault,
  verifySoftwareStatement,
} from "../participants/software_statement.ts";
import type { ListedStatus, StatusList } from "../participants/status_list.ts";
import { MAX_REGISTRATION_JWT_CHARACTERS, MAX_REGISTRATION_JWT_SECONDS } from "../../../base/profile.ts";
import {
  checkMetadata,
  decodeMetadata,
  invalid,
  type MetadataRules,
  type RegistrationFault,
} from "./client_metadata.ts";

/** A verified registration request. Only {@link openRegistration} makes one. */
export interface RegistrationRequest {
  readonly statement: SoftwareStatement;
  /** The directory's entry for the software; undefined if the software was just onboarded. */
  readonly listed: ListedStatus | undefined;
  readonly jti: string;
  /** Of the registration JWT's header. */
  readonly kid: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
}

export interface RegistrationJwtDeps extends MetadataRules {
  readonly clock: Clock;
  readonly keys: ParticipantKeySets;
  readonly statements: SoftwareStatementDeps;
  readonly statuses: Pick<StatusList, "find">;
}

/** The participant that must have signed, as the directory names it. */
type Registrant = Signer & Pick<RegistrationRequest, "statement" | "listed" | "kid">;

const HEADER = { maxCharacters: MAX_REGISTRATION_JWT_CHARACTERS, typ: ["JWT"] } as const;
const TIMES = {
  exp: "required",
  iat: "required",
  maxLifetime: MAX_REGISTRATION_JWT_SECONDS,
  maxAge: MAX_REGISTRATION_JWT_SECONDS,
} as const;

/**
 * Verifies and decodes a registration JWT.
 *
 * @param onStatement called with the verified software statement, also if the JWT is then rejected
 * @throws {ApiError} `platform.unavailable` without a fresh enough copy of the directory's documents
 */
export async function openRegistration(
  deps: RegistrationJwtDeps,
  jwt: string,
  onStatement: (statement: SoftwareStatement) => void,
): Promise<Result<RegistrationRequest, RegistrationFault>> {
  noteReceived("registration JWT", jwt);
  const verified = await verifyJwt(jwt, {
    ...HEADER,
    findKey: (jws) => findRegistrant(deps, jws, onStatement),
    claims: decodeMetadata,
    times: { ...TIMES, clock: deps.clock },
  });
  if (!verified.ok) return explainFault(verified.fault);
  const { statement, listed, kid } = verified.value.signer;
  const checked = checkMetadata(verified.value.claims, statement, deps);
  if (!checked.ok) return checked;
  const { jti, exp: expiresAt, redirect_uris: redirectUris, grant_types: grantTypes } = checked.value;
  return ok({ statement, listed, jti, kid, expiresAt, redirectUris, grantTypes });
}

/** The claims are unverified here. Only the software statement is used, which the directory has signed. */
async function findRegistrant(
  deps: RegistrationJwtDeps,
  jws: UnverifiedJws,
  onStatement: (statement: SoftwareStatement) => void,
): Promise<Result<Registrant, JwtFault | StatementFault>> {
  const carried = carriedStatement(jws);
  if (!carried.ok) return carried;
  const verified = await verifySoftwareStatement(deps.statements, carried.value, deps.clock);
  if (!verified.ok) return verified;
  const statement = verified.value;
  onStatement(statement);
  // Read before the keys are fetched, so that the keys have at least this version.
  const listed = await deps.statuses.find(statement.clientId, "at once");
  const { kid } = jws.header;
  const unknown = async (): Promise<Failure<JwtFault>> =>
    inPart("key", await deps.keys.kidFault(statement, kid));
  if (typeof kid !== "string") return await unknown();
  const key = await deps.keys.signingKey(statement, kid);
  return key === undefined ? await unknown() : ok({ key, statement, listed, kid });
}

/**
 * A JWT of another kind is rejected as such. A registration JWT without a statement is rejected for the missing
 * statement.
 */
function carriedStatement(jws: UnverifiedJws): Result<string, JwtFault | StatementFault> {
  const claims = unverifiedClaims(jws);
  if (!claims.ok) return inPart("payload", claims);
  const { software_statement: statement } = claims.value;
  if (typeof statement === "string") return ok(statement);
  const { fault } = mismatch("software_statement", "the signed software statement", statement);
  return Object.hasOwn(claims.value, "redirect_uris")
    ? failed({ reason: "registration.invalid_software_statement", ...fault })
    : failed({ part: "payload", ...fault });
}

function explainFault(fault: JwtFault | StatementFault): Failure<RegistrationFault> {
  if ("reason" in fault) return failed(fault);
  if (fault.part === "claims") return invalid(`Not acceptable: ${fault.at}.`, failed(fault));
  if (fault.part === "times") return invalid("exp or iat is not acceptable.", failed(fault));
  return failed({ reason: "registration.invalid_client_metadata", ...within("registration JWT", fault) });
}
