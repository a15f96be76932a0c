/**
 * Software statements (SSA): verified with the directory's configured keys, then decoded once (contract DC2, DC3).
 */
import { z } from "zod";
import { asBankCode, asClientId, type ClientId } from "../../../base/kernel/identifiers.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import type { Failure, Mismatch, Result } from "../../../base/kernel/result.ts";
import { mismatch, ok, quote, within } from "../../../base/kernel/result.ts";
import {
  type JsonObject,
  readCompactJws,
  unverifiedClaims,
  type UnverifiedJws,
} from "../../../base/jose/compact_jws.ts";
import { type Signer, verifyJwt } from "../../../base/jose/verify_jwt.ts";
import { MAX_SOFTWARE_STATEMENT_SECONDS } from "../../../base/limits.ts";
import { MAX_REGISTRATION_JWT_CHARACTERS } from "../../../base/profile.ts";
import type { FindDirectoryKey } from "./directory_keys.ts";
import { type GuardedFetchDeps, isAllowedUrl } from "./guarded_fetch.ts";

/** Why a statement is not accepted: it is not valid, or not meant for this platform (RFC 7591 §3.2.2). */
export interface StatementFault extends Mismatch {
  readonly reason:
    | "registration.invalid_software_statement"
    | "registration.unapproved_software_statement";
}

/** A verified statement of the directory about one software. Only {@link verifySoftwareStatement} makes one. */
export interface SoftwareStatement {
  readonly clientId: ClientId;
  readonly softwareId: string;
  readonly orgId: string;
  /** Legal name, verified by the directory. */
  readonly orgName: string;
  /** Company registration number, verified by the directory. */
  readonly registrationNumber?: string;
  readonly softwareName: string;
  /** The participant's own web page, for links to it. */
  readonly clientUri?: string;
  /** For pages of TPPs. The platform never fetches it (contract DC16). */
  readonly logoUri?: string;
  readonly role: "PISP" | "ASPSP";
  readonly redirectUris: readonly string[];
  readonly jwksUri: string;
  readonly revokedJwksUri: string;
  /** Banks: whether the bank shows its own consent screen. */
  readonly consentManagedByBank: boolean;
  /** Banks: whether the bank also delivers its results on the back channel (contract ARS1). */
  readonly resultsOnBackChannel: boolean;
  /** Banks: the address to which payment orders are pushed, if any (Decision D4). */
  readonly paymentOrdersUri?: string;
  /** TPPs: the address to which events may be pushed, if any (contract EVT9). */
  readonly eventNotificationUri?: string;
  /** Unix seconds. A newer statement replaces an older one, never the reverse. */
  readonly issuedAt: number;
  /** The signed statement, unchanged. */
  readonly text: string;
}

export interface SoftwareStatementDeps {
  readonly findDirectoryKey: FindDirectoryKey;
  readonly directoryIssuer: string;
  readonly environment: string;
  readonly urls: Omit<GuardedFetchDeps, "fetch">;
}

const text = z.string().min(1).max(2048);
const claimsSchema = z.object({
  iss: text,
  iat: z.number(),
  exp: z.number(),
  jti: text,
  software_client_id: text,
  software_id: text,
  software_client_name: text,
  software_client_uri: text.optional(),
  logo_uri: text.optional(),
  software_client_status: z.string(),
  software_environment: z.string(),
  software_roles: z.array(z.string()).length(1),
  software_redirect_uris: z.array(text).min(1),
  org_id: text,
  org_name: text,
  registration_number: text.optional(),
  org_jwks_endpoint: text,
  org_jwks_revoked_endpoint: text,
  consent_managedby_bank: z.boolean().default(false),
  results_on_back_channel: z.boolean().default(false),
  payment_orders_uri: text.optional(),
  event_notification_uri: text.optional(),
});
type Claims = z.infer<typeof claimsSchema>;

const HEADER = { maxCharacters: MAX_REGISTRATION_JWT_CHARACTERS, typ: ["JWT"] } as const;
const TIMES = { exp: "required", iat: "required", maxAhead: MAX_SOFTWARE_STATEMENT_SECONDS } as const;

/** Verifies and decodes a statement. */
export async function verifySoftwareStatement(
  deps: SoftwareStatementDeps,
  statement: string,
  clock: Clock,
): Promise<Result<SoftwareStatement, StatementFault>> {
  const verified = await verifyJwt(statement, {
    ...HEADER,
    findKey: (jws) => directoryKey(deps, jws),
    claims: decodeClaims,
    times: { ...TIMES, clock },
  });
  if (verified.ok) return checkApproval(deps, verified.value.claims, statement);
  const fault = within("software_statement", verified.fault);
  return { ok: false, fault: { reason: "registration.invalid_software_statement", ...fault } };
}

/** Returns the `jti` of a stored statement, which was verified before it was stored. */
export function statementId(statement: string): string | undefined {
  const jti = storedClaim(statement, "jti");
  return typeof jti === "string" ? jti : undefined;
}

/** Returns when a stored statement ends, milliseconds. */
export function statementEnd(statement: string): number | undefined {
  const exp = storedClaim(statement, "exp");
  return typeof exp === "number" ? exp * 1000 : undefined;
}

function storedClaim(statement: string, name: string): unknown {
  const jws = readCompactJws(statement, HEADER);
  const claims = jws.ok ? unverifiedClaims(jws.value) : jws;
  return claims.ok ? claims.value[name] : undefined;
}

/**
 * Another directory's statement is well formed but not approved here (RFC 7591 §3.2.2). No other claim of it is used
 * before it is verified.
 */
async function directoryKey(
  deps: SoftwareStatementDeps,
  jws: UnverifiedJws,
): Promise<Result<Signer, StatementFault>> {
  const claims = unverifiedClaims(jws);
  const issuer = claims.ok ? claims.value["iss"] : undefined;
  if (typeof issuer === "string" && issuer !== deps.directoryIssuer) {
    return unapprovedFault("iss", quote(deps.directoryIssuer), issuer);
  }
  const { kid } = jws.header;
  const key = typeof kid === "string" ? await deps.findDirectoryKey(kid) : undefined;
  return key === undefined ? invalid("header kid", "the kid of a key of the directory", kid) : ok({ key });
}

function decodeClaims(claims: JsonObject): Result<Claims> {
  const decoded = claimsSchema.safeParse(claims);
  if (decoded.success) return ok(decoded.data);
  const names = decoded.error.issues.map((issue) => issue.path.join(".")).join(", ");
  return mismatch(names, "as the directory writes a software statement");
}

function checkApproval(
  deps: SoftwareStatementDeps,
  claims: Claims,
  statement: string,
): Result<SoftwareStatement, StatementFault> {
  const { software_client_status: status, software_environment: environment } = claims;
  if (status !== "Active") return unapprovedStatement("software_client_status", "Active", status);
  if (environment !== deps.environment) {
    return unapprovedStatement("software_environment", quote(deps.environment), environment);
  }
  const urls = [claims.org_jwks_endpoint, claims.org_jwks_revoked_endpoint];
  const elsewhere = urls.find((url) => !isAllowedUrl(deps.urls, url));
  if (elsewhere !== undefined) return unapprovedStatement("key set URL", "on an allowed host", elsewhere);
  const clientId = asClientId(claims.software_client_id);
  if (clientId === undefined) {
    return invalidStatement("software_client_id", "SC- and a UUID", claims.software_client_id);
  }
  const role = claims.software_roles[0];
  if (role !== "PISP" && role !== "ASPSP") {
    return unapprovedStatement("software_roles", "PISP or ASPSP", role);
  }
  if (role === "ASPSP" && asBankCode(claims.org_id) === undefined) {
    return unapprovedStatement("org_id", "a bank code that is not reserved", claims.org_id);
  }
  return ok(statementOf(deps, claims, { clientId, role, text: statement }));
}

function statementOf(
  deps: SoftwareStatementDeps,
  claims: Claims,
  { clientId, role, text }: Pick<SoftwareStatement, "clientId" | "role" | "text">,
): SoftwareStatement {
  return {
    clientId,
    role,
    softwareId: claims.software_id,
    orgId: claims.org_id,
    orgName: claims.org_name,
    ...(claims.registration_number === undefined ? {} : { registrationNumber: claims.registration_number }),
    softwareName: claims.software_client_name,
    ...linkTo(deps, "clientUri", claims.software_client_uri),
    ...linkTo(deps, "logoUri", claims.logo_uri),
    redirectUris: claims.software_redirect_uris,
    jwksUri: claims.org_jwks_endpoint,
    revokedJwksUri: claims.org_jwks_revoked_endpoint,
    consentManagedByBank: role === "ASPSP" && claims.consent_managedby_bank,
    resultsOnBackChannel: role === "ASPSP" && claims.results_on_back_channel,
    ...(claims.payment_orders_uri === undefined ? {} : { paymentOrdersUri: claims.payment_orders_uri }),
    ...(role === "PISP" && claims.event_notification_uri !== undefined
      ? { eventNotificationUri: claims.event_notification_uri }
      : {}),
    issuedAt: claims.iat,
    text,
  };
}

/**
 * Pages show it as a link, so only a web address is stored. http is allowed only on loopback, if the deployment
 * allows it.
 */
function linkTo(
  { urls }: SoftwareStatementDeps,
  name: "clientUri" | "logoUri",
  stated: string | undefined,
): Pick<SoftwareStatement, typeof name> {
  const url = stated === undefined ? null : URL.parse(stated);
  if (url === null || !isAllowedUrl({ ...urls, allowedHosts: [url.host] }, url.href)) return {};
  return { [name]: url.href };
}

function invalid(at: string, expected: string, received: unknown): Failure<StatementFault> {
  const { fault } = mismatch(at, expected, received);
  return { ok: false, fault: { reason: "registration.invalid_software_statement", ...fault } };
}

function unapprovedFault(at: string, expected: string, received: unknown): Failure<StatementFault> {
  const { fault } = mismatch(at, expected, received);
  return { ok: false, fault: { reason: "registration.unapproved_software_statement", ...fault } };
}

function invalidStatement(at: string, expected: string, received: unknown): Failure<StatementFault> {
  return inStatement(invalid(at, expected, received));
}

function unapprovedStatement(at: string, expected: string, received: unknown): Failure<StatementFault> {
  return inStatement(unapprovedFault(at, expected, received));
}

function inStatement({ fault }: Failure<StatementFault>): Failure<StatementFault> {
  return { ok: false, fault: within("software_statement", fault) };
}
