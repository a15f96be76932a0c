/**
 * Public documents of the authorization server: each bank's metadata and the platform's keys (contract MD1 to MD12).
 */
import { createRoute } from "@hono/zod-openapi";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { oauthErrors, publicAnswer } from "../../guards/http/openapi_answers.ts";
import { bankParameter } from "../../guards/http/openapi_parameters.ts";
import { PUBLIC_CACHE } from "../../../base/http/public_document.ts";
import type { KeyRing } from "../../../base/jose/key_ring.ts";
import { asBankCode, type BankCode } from "../../../base/kernel/identifiers.ts";
import {
  AUTHORIZATION_PATH,
  filledPath,
  KEYS_PATH,
  PUSH_PATH,
  REGISTRATION_PATH,
  TOKEN_PATH,
} from "../../config/paths.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Outage } from "../../guards/security/controls_store.ts";
import type { FindBank } from "../../guards/security/caller.ts";
import { SIGNATURE_ALG } from "../../../base/limits.ts";
import { issuerOf } from "../../guards/security/standing.ts";
import { LANGUAGES } from "../../../pages/language.ts";
import {
  platformKeysSchema,
  representOutages,
  type ServerMetadata,
  serverMetadataSchema,
} from "./discovery_representation.ts";

export interface DiscoveryRouteDeps {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly findBank: FindBank;
  readonly keys: KeyRing;
  /** Returns the bank's outages that have not ended. */
  readonly outagesOf: (bank: BankCode) => Promise<readonly Outage[]>;
}

const tags = ["Discovery"];

const metadataRoute = createRoute({
  method: "get",
  path: "/.well-known/oauth-authorization-server/{bank}",
  tags,
  operationId: "getAuthorizationServerMetadata",
  summary: "Metadata of a bank's authorization server (RFC 8414)",
  description: "Endpoints, methods and algorithms of one bank's issuer.",
  security: [],
  request: { params: bankParameter },
  responses: { 200: publicAnswer("The metadata", serverMetadataSchema), ...oauthErrors(404, 405, 500, 503) },
});
const keysRoute = createRoute({
  method: "get",
  path: KEYS_PATH,
  tags,
  operationId: "getPlatformKeys",
  summary: "The platform's public keys",
  description:
    "`sig` keys verify what the platform signs; `enc` keys are for JWTs that a bank sends to the platform.",
  security: [],
  responses: { 200: publicAnswer("A JWK set (RFC 7517)", platformKeysSchema), ...oauthErrors(405, 500) },
});

export function discoveryRoutes(deps: DiscoveryRouteDeps): readonly PlatformEndpoint[] {
  return [
    endpoint("oauth", "public", metadataRoute, [], async (c) => {
      const code = asBankCode(c.req.param("bank"));
      const bank = code === undefined ? null : await deps.findBank(c.get("reads"), code);
      if (bank === null) throw new ApiError("bank.unknown");
      c.header("cache-control", PUBLIC_CACHE);
      const outages = await deps.outagesOf(bank.code);
      return c.json({ ...serverMetadata(deps, bank.code), ...representOutages(outages) });
    }),
    endpoint("oauth", "public", keysRoute, [], (c) => {
      c.header("cache-control", PUBLIC_CACHE);
      return c.json(deps.keys.publicJwks);
    }),
  ];
}

/**
 * Returns the metadata document of one bank's issuer (RFC 8414; contract MD3). Its URLs come only from configuration
 * (Decision A6).
 */
function serverMetadata(
  hosts: { readonly baseUrl: string; readonly authUrl: string },
  bank: BankCode,
): ServerMetadata {
  return {
    issuer: issuerOf(hosts.authUrl, bank),
    authorization_endpoint: hosts.authUrl + filledPath(AUTHORIZATION_PATH, { bank }),
    token_endpoint: hosts.baseUrl + filledPath(TOKEN_PATH, { bank }),
    pushed_authorization_request_endpoint: hosts.baseUrl + filledPath(PUSH_PATH, { bank }),
    require_pushed_authorization_requests: true,
    registration_endpoint: hosts.baseUrl + REGISTRATION_PATH,
    jwks_uri: hosts.authUrl + KEYS_PATH,
    scopes_supported: ["payments"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "client_credentials"],
    token_endpoint_auth_methods_supported: ["private_key_jwt"],
    token_endpoint_auth_signing_alg_values_supported: [SIGNATURE_ALG],
    code_challenge_methods_supported: ["S256"],
    dpop_signing_alg_values_supported: [SIGNATURE_ALG],
    authorization_response_iss_parameter_supported: true,
    ui_locales_supported: [...LANGUAGES],
    service_documentation: `${hosts.authUrl}/docs`,
  };
}
