/** Checks the claims of a registration JWT against its software statement (contract DC6-DC10). No I/O. */
import { z } from "zod";
import { ApiError } from "../../base/kernel/api_error.ts";
import { timeFault } from "../../base/jose/claim_times.ts";
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import type { SoftwareStatement } from "../participants/software_statement.ts";
import { MAX_REDIRECT_URIS } from "../../base/limits.ts";
import { MAX_JTI_CHARACTERS, MAX_REGISTRATION_JWT_SECONDS } from "../profile.ts";

/** An accepted registration request. */
export interface RegistrationRequest {
  readonly jti: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
}

/** The platform's rules for the claims. */
export interface RegistrationRules {
  readonly audience: string;
  /** Unix seconds. */
  readonly now: number;
  /** Sandbox only: `http://localhost` redirect URLs. */
  readonly loopbackRedirects: boolean;
}

const MAX_URI_CHARACTERS = 2048;
const code = z.union([z.literal("code"), z.array(z.literal("code")).length(1)]);
const metadataSchema = z.object({
  iss: z.string(),
  iat: z.number(),
  exp: z.number(),
  aud: z.string(),
  jti: z.string().min(1).max(MAX_JTI_CHARACTERS),
  sub: z.never().optional(), // RFC 8725 §3.12: a client assertion is not a registration
  redirect_uris: z.unknown().optional(), // checked separately, with its own error
  token_endpoint_auth_method: z.literal("private_key_jwt"),
  grant_types: z.array(z.string()).min(1),
  response_types: code.optional(),
  software_id: z.string().optional(),
  scope: z.string(),
  software_statement: z.string(),
  application_type: z.literal("web"),
  request_object_signing_alg: z.literal("PS256").optional(),
  token_endpoint_auth_signing_alg: z.literal("PS256").optional(),
  id_token_signed_response_alg: z.literal("PS256").optional(),
  jwks: z.unknown().optional(),
  jwks_uri: z.unknown().optional(),
}).refine(({ jwks, jwks_uri }) => jwks === undefined || jwks_uri === undefined, { // RFC 7591 §2
  path: ["jwks"],
});

/**
 * The metadata that a role registers (contract RJ6, RJ9). A bank may add the grant that it really uses (Decision B1).
 */
const BY_ROLE = {
  PISP: {
    scope: "payments",
    required: ["client_credentials", "authorization_code"],
    optional: [] as string[],
  },
  ASPSP: { scope: "bank", required: ["authorization_code"], optional: ["client_credentials"] },
};

/**
 * Checks verified claims.
 *
 * @throws {ApiError} `registration.invalid_client_metadata` or `registration.invalid_redirect_uri`
 */
export function readRegistration(
  claims: JsonObject,
  statement: SoftwareStatement,
  rules: RegistrationRules,
): RegistrationRequest {
  const decoded = metadataSchema.safeParse(claims);
  if (!decoded.success) {
    const names = [...new Set(decoded.error.issues.map((issue) => issue.path.join(".")))].join(", ");
    throw invalid(`Not acceptable: ${names}.`);
  }
  const metadata = decoded.data;
  const times = timeFault(claims, {
    exp: "required",
    iat: "required",
    maxLifetime: MAX_REGISTRATION_JWT_SECONDS,
    maxAge: MAX_REGISTRATION_JWT_SECONDS,
  }, rules.now);
  if (times !== undefined) throw invalid("exp or iat is not acceptable.");
  if (metadata.aud !== rules.audience) throw invalid("aud is not this platform's registration audience.");
  if (metadata.iss !== statement.orgName && metadata.iss !== statement.orgId) {
    throw invalid("iss is not the participant.");
  }
  if (metadata.software_id !== undefined && metadata.software_id !== statement.softwareId) {
    throw invalid("software_id differs from the software statement.");
  }
  requireRole(metadata.grant_types, metadata.scope, statement.role);
  const redirectUris = readRedirectUris(metadata.redirect_uris, statement, rules.loopbackRedirects);
  return { jti: metadata.jti, expiresAt: metadata.exp, redirectUris, grantTypes: metadata.grant_types };
}

function requireRole(grantTypes: readonly string[], scope: string, role: SoftwareStatement["role"]): void {
  const rule = BY_ROLE[role];
  if (scope !== rule.scope) throw invalid(`scope must be ${rule.scope} for this role.`);
  const complete = rule.required.every((grant) => grantTypes.includes(grant));
  const known = grantTypes.every((grant) => rule.required.includes(grant) || rule.optional.includes(grant));
  if (!complete || !known || new Set(grantTypes).size !== grantTypes.length) {
    throw invalid(`grant_types must be ${rule.required.join(" and ")} for this role.`);
  }
}

function readRedirectUris(
  value: unknown,
  statement: SoftwareStatement,
  loopback: boolean,
): readonly string[] {
  const parsed = z.array(z.string().max(MAX_URI_CHARACTERS)).min(1).max(MAX_REDIRECT_URIS[statement.role])
    .safeParse(value);
  if (!parsed.success) {
    throw new ApiError("registration.invalid_redirect_uri", "redirect_uris missing, empty or too many");
  }
  const uris = parsed.data;
  if (new Set(uris).size !== uris.length) {
    throw new ApiError("registration.invalid_redirect_uri", "duplicate");
  }
  if (!uris.every((uri) => statement.redirectUris.includes(uri))) { // byte equality, DC9
    throw new ApiError("registration.invalid_redirect_uri", "not in the software statement");
  }
  if (!uris.every((uri) => isRedirectUri(uri, loopback))) {
    throw new ApiError("registration.invalid_redirect_uri", "form");
  }
  return uris;
}

/** Whether the platform may redirect to this URL. `loopback` is true only in the sandbox. */
export function isRedirectUri(text: string, loopback: boolean): boolean {
  const url = URL.parse(text);
  if (
    url === null || text.includes("#") || text.includes("*") || url.username !== "" || url.password !== ""
  ) return false;
  return url.protocol === "https:" ||
    (loopback && url.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname));
}

function invalid(description: string): ApiError {
  return new ApiError("registration.invalid_client_metadata", { detail: description, description });
}
