/**
 * Software statements (SSA): verified with the directory's configured keys, then decoded once (contract DC2, DC3).
 */
import { z } from "zod";
import { asBankCode, asClientId, type ClientId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { timeFault } from "../../base/jose/claim_times.ts";
import {
  readCompactJws,
  unverifiedClaims,
  type UnverifiedJws,
  verifyClaims,
} from "../../base/jose/compact_jws.ts";
import { MAX_SOFTWARE_STATEMENT_SECONDS } from "../../base/limits.ts";
import { MAX_REGISTRATION_JWT_CHARACTERS } from "../profile.ts";
import type { FindDirectoryKey } from "./directory_keys.ts";
import { type GuardedFetchDeps, isAllowedUrl } from "./guarded_fetch.ts";

/** A verified statement of the directory about one software. Only {@link verifySoftwareStatement} makes one. */
export interface SoftwareStatement {
  readonly clientId: ClientId;
  readonly softwareId: string;
  readonly orgId: string;
  readonly orgName: string;
  /** Company registration number, checked by the directory. */
  readonly registrationNumber?: string;
  readonly softwareName: string;
  /** The participant's own web page, for links to it. */
  readonly clientUri?: string;
  readonly role: "PISP" | "ASPSP";
  readonly redirectUris: readonly string[];
  readonly jwksUri: string;
  readonly revokedJwksUri: string;
  readonly consentManagedByBank: boolean;
  readonly paymentOrdersUri?: string;
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
  payment_orders_uri: text.optional(),
});
type Claims = z.infer<typeof claimsSchema>;

/**
 * Verifies and decodes a statement.
 *
 * @param now Unix seconds
 * @throws {ApiError} `registration.invalid_software_statement` or `registration.unapproved_software_statement`
 */
export async function verifySoftwareStatement(
  deps: SoftwareStatementDeps,
  statement: string,
  now: number,
): Promise<SoftwareStatement> {
  const jws = readCompactJws(statement, { maxCharacters: MAX_REGISTRATION_JWT_CHARACTERS, typ: ["JWT"] });
  if (!jws.ok) throw invalid(jws.why);
  rejectForeignIssuer(deps, jws.value);
  const kid = jws.value.header["kid"];
  const key = typeof kid === "string" ? await deps.findDirectoryKey(kid) : undefined;
  if (key === undefined) throw invalid("kid is no key of the directory");
  const verified = await verifyClaims(jws.value, key);
  if (!verified.ok) throw invalid(verified.why);
  const times = timeFault(verified.value, {
    exp: "required",
    iat: "required",
    maxAhead: MAX_SOFTWARE_STATEMENT_SECONDS,
  }, now);
  if (times !== undefined) throw invalid(times);
  const decoded = claimsSchema.safeParse(verified.value);
  if (!decoded.success) {
    throw invalid(`claims: ${decoded.error.issues.map((issue) => issue.path.join(".")).join(", ")}`);
  }
  return approved(deps, decoded.data, statement);
}

/** Returns the `jti` of a stored statement, which was verified before it was stored. */
export function statementId(statement: string): string | undefined {
  const jws = readCompactJws(statement, { maxCharacters: MAX_REGISTRATION_JWT_CHARACTERS, typ: ["JWT"] });
  const claims = jws.ok ? unverifiedClaims(jws.value) : jws;
  return claims.ok && typeof claims.value["jti"] === "string" ? claims.value["jti"] : undefined;
}

// Another directory's statement is well formed but not approved here (RFC 7591 §3.2.2). No other claim of it is used.
function rejectForeignIssuer(deps: SoftwareStatementDeps, jws: UnverifiedJws): void {
  const claims = unverifiedClaims(jws);
  if (claims.ok && typeof claims.value["iss"] === "string" && claims.value["iss"] !== deps.directoryIssuer) {
    throw unapproved("issued by another directory");
  }
}

function approved(deps: SoftwareStatementDeps, claims: Claims, statement: string): SoftwareStatement {
  if (claims.iss !== deps.directoryIssuer) throw invalid("iss");
  if (claims.software_client_status !== "Active") throw unapproved(`status ${claims.software_client_status}`);
  if (claims.software_environment !== deps.environment) throw unapproved("other environment");
  const urls = [claims.org_jwks_endpoint, claims.org_jwks_revoked_endpoint];
  if (!urls.every((url) => isAllowedUrl(deps.urls, url))) {
    throw unapproved("key set URL outside the allow-list");
  }
  const clientId = asClientId(claims.software_client_id);
  if (clientId === undefined) throw invalid("software_client_id");
  const role = claims.software_roles[0];
  if (role !== "PISP" && role !== "ASPSP") throw unapproved("role");
  if (role === "ASPSP" && asBankCode(claims.org_id) === undefined) {
    throw unapproved("org_id is no bank code, or reserved");
  }
  return {
    clientId,
    role,
    softwareId: claims.software_id,
    orgId: claims.org_id,
    orgName: claims.org_name,
    ...(claims.registration_number === undefined ? {} : { registrationNumber: claims.registration_number }),
    softwareName: claims.software_client_name,
    ...linkTo(deps, claims.software_client_uri),
    redirectUris: claims.software_redirect_uris,
    jwksUri: claims.org_jwks_endpoint,
    revokedJwksUri: claims.org_jwks_revoked_endpoint,
    consentManagedByBank: role === "ASPSP" && claims.consent_managedby_bank,
    ...(claims.payment_orders_uri === undefined ? {} : { paymentOrdersUri: claims.payment_orders_uri }),
    issuedAt: claims.iat,
    text: statement,
  };
}

/**
 * Pages show it as a link, so only a web address is stored. http is allowed only on loopback, if the deployment
 * allows it.
 */
function linkTo({ urls }: SoftwareStatementDeps, clientUri: string | undefined): { clientUri?: string } {
  const url = clientUri === undefined ? null : URL.parse(clientUri);
  if (url === null || !isAllowedUrl({ ...urls, allowedHosts: [url.host] }, url.href)) return {};
  return { clientUri: url.href };
}

function invalid(why: string): ApiError {
  return new ApiError("registration.invalid_software_statement", why);
}

function unapproved(why: string): ApiError {
  return new ApiError("registration.unapproved_software_statement", why);
}
