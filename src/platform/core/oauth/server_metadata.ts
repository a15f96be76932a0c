/** Authorization server metadata of one bank's issuer (RFC 8414; contract MD3). */
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { SIGNATURE_ALG } from "../../../base/limits.ts";
import {
  AUTHORIZATION_PATH,
  filledPath,
  KEYS_PATH,
  PUSH_PATH,
  REGISTRATION_PATH,
  TOKEN_PATH,
} from "../../config/paths.ts";
import { issuerOf } from "../../guards/security/standing.ts";
import { LANGUAGES } from "../../../pages/language.ts";
import type { ServerMetadata } from "./discovery_representation.ts";

/** Returns the metadata document. Its URLs come only from configuration (Decision A6). */
export function serverMetadata(
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
