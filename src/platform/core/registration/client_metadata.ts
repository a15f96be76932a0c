/** Client metadata of a registration JWT, and its rules by role and software statement (contract DC6-DC10). No I/O. */
import { z } from "zod";
import type { Failure, Mismatch, Result } from "../../../base/kernel/result.ts";
import { mismatch, ok, quote, within } from "../../../base/kernel/result.ts";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import type { SoftwareStatement, StatementFault } from "../participants/software_statement.ts";
import { addedParameterIn } from "../../../base/values/redirect_url.ts";
import { MAX_REDIRECT_URIS } from "../../../base/limits.ts";
import { MAX_JTI_CHARACTERS } from "../../../base/profile.ts";

/** Why a registration is rejected. */
export interface RegistrationFault extends Mismatch {
  readonly reason:
    | StatementFault["reason"]
    | "registration.invalid_client_metadata"
    | "registration.invalid_redirect_uri";
  /** `error_description` in place of the reason's own. */
  readonly description?: string;
}

/** The platform's rules for the metadata. */
export interface MetadataRules {
  readonly audience: string;
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

type Metadata = z.infer<typeof metadataSchema>;

/** The schema's expectation of each claim, for the participant. */
const EXPECTED: Readonly<Record<keyof Metadata, string>> = {
  iss: "the org_name or org_id of the software statement",
  iat: "a number of Unix seconds",
  exp: "a number of Unix seconds",
  aud: "the registration audience of this platform, as a string",
  jti: `a string of 1 to ${MAX_JTI_CHARACTERS} characters`,
  sub: "absent",
  redirect_uris: "an array of URLs",
  token_endpoint_auth_method: "'private_key_jwt'",
  grant_types: "an array of 'client_credentials' and 'authorization_code'",
  response_types: "'code' or absent",
  software_id: "the software_id of the software statement, or absent",
  scope: "'payments' for a TPP, 'bank' for a bank",
  software_statement: "the signed software statement",
  application_type: "'web'",
  request_object_signing_alg: "'PS256' or absent",
  token_endpoint_auth_signing_alg: "'PS256' or absent",
  id_token_signed_response_alg: "'PS256' or absent",
  jwks: "absent if jwks_uri is sent; neither is used",
  jwks_uri: "absent if jwks is sent; neither is used",
};

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

/** Decodes verified claims. The fault names the first claim that is not acceptable. */
export function decodeMetadata(claims: JsonObject): Result<Metadata> {
  const decoded = metadataSchema.safeParse(claims);
  if (decoded.success) return ok(decoded.data);
  const name = String(decoded.error.issues[0]?.path[0]) as keyof Metadata;
  return mismatch(name, EXPECTED[name], claims[name]);
}

/** Checks decoded metadata against the software statement of the client. */
export function checkMetadata(
  metadata: Metadata,
  statement: SoftwareStatement,
  { audience, loopbackRedirects }: MetadataRules,
): Result<Metadata & { readonly redirect_uris: readonly string[] }, RegistrationFault> {
  const { aud, iss, software_id: softwareId } = metadata;
  if (aud !== audience) {
    return invalid(
      "aud is not this platform's registration audience.",
      mismatch("aud", `${quote(audience)} (the registration audience)`, aud),
    );
  }
  if (iss !== statement.orgName && iss !== statement.orgId) {
    return invalid(
      "iss is not the participant.",
      mismatch("iss", `${quote(statement.orgName)} or ${quote(statement.orgId)}`, iss),
    );
  }
  if (softwareId !== undefined && softwareId !== statement.softwareId) {
    const fault = mismatch("software_id", quote(statement.softwareId), softwareId);
    return invalid("software_id differs from the software statement.", fault);
  }
  const ofRole = checkRole(metadata, statement.role);
  if (!ofRole.ok) return ofRole;
  const redirectUris = checkRedirectUris(metadata.redirect_uris, statement, loopbackRedirects);
  return redirectUris.ok ? ok({ ...metadata, redirect_uris: redirectUris.value }) : redirectUris;
}

function checkRole(metadata: Metadata, role: SoftwareStatement["role"]): Result<Metadata, RegistrationFault> {
  const { grant_types: grantTypes, scope } = metadata;
  const rule = BY_ROLE[role];
  const scopes = new Set(scope.split(" ").filter((name) => name !== "")); // RFC 6749 §3.3: a set
  if (scopes.size !== 1 || !scopes.has(rule.scope)) {
    return invalid(`scope must be ${rule.scope} for this role.`, mismatch("scope", quote(rule.scope), scope));
  }
  const complete = rule.required.every((grant) => grantTypes.includes(grant));
  const known = grantTypes.every((grant) => rule.required.includes(grant) || rule.optional.includes(grant));
  if (complete && known && new Set(grantTypes).size === grantTypes.length) return ok(metadata);
  const expected = rule.required.join(" and ");
  const fault = mismatch("grant_types", expected, grantTypes.join(" "));
  return invalid(`grant_types must be ${expected} for this role.`, fault);
}

function checkRedirectUris(
  value: unknown,
  statement: SoftwareStatement,
  loopback: boolean,
): Result<readonly string[], RegistrationFault> {
  const max = MAX_REDIRECT_URIS[statement.role];
  const parsed = z.array(z.string().max(MAX_URI_CHARACTERS)).min(1).max(max).safeParse(value);
  if (!parsed.success) return invalidUri(`1 to ${max} URLs`, value);
  const uris = parsed.data;
  if (new Set(uris).size !== uris.length) return invalidUri("without duplicates");
  const unstated = uris.find((uri) => !statement.redirectUris.includes(uri)); // byte equality, DC9
  if (unstated !== undefined) {
    const stated = statement.redirectUris.map(quote).join(" or ");
    return invalidUri(`those of the software statement: ${stated}`, unstated);
  }
  const odd = uris.find((uri) => !isRedirectUri(uri, statement.role, loopback));
  if (odd === undefined) return ok(uris);
  const added = addedParameterIn(odd, statement.role);
  const without = added === undefined
    ? "fragment, wildcard and user name"
    : `the parameter ${added}, which the platform adds`;
  return invalidUri(`https URLs without ${without}`, odd);
}

/** Whether the platform may redirect to this URL. `loopback` is true only in the sandbox. */
export function isRedirectUri(text: string, role: SoftwareStatement["role"], loopback: boolean): boolean {
  const url = URL.parse(text);
  if (
    url === null || text.includes("#") || text.includes("*") || url.username !== "" || url.password !== "" ||
    addedParameterIn(text, role) !== undefined
  ) return false;
  return url.protocol === "https:" ||
    (loopback && url.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname));
}

/** Returns the failure as one of the metadata, with a description for the caller. */
export function invalid(description: string, { fault }: Failure): Failure<RegistrationFault> {
  const named = within("registration JWT", fault);
  return { ok: false, fault: { reason: "registration.invalid_client_metadata", description, ...named } };
}

function invalidUri(expected: string, received?: unknown): Failure<RegistrationFault> {
  const { fault } = mismatch("registration JWT redirect_uris", expected, received);
  return { ok: false, fault: { reason: "registration.invalid_redirect_uri", ...fault } };
}
