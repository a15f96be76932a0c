/** Schemas of the discovery documents, for the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { Outage } from "../../guards/security/controls_store.ts";

const address = z.string().openapi({ format: "uri" });

export const plannedOutagesSchema = z.array(z.strictObject({
  from: z.string().openapi({ format: "date-time" }),
  until: z.string().openapi({ format: "date-time" }),
  text: z.string().openapi({ example: "Maintenance of the core banking system." }),
})).optional().openapi({
  description: "Outages of the bank, under way or to come. Meanwhile requests that start something get 503.",
});

/** Metadata of a bank's authorization server (RFC 8414). */
export const serverMetadataSchema = z.strictObject({
  issuer: address.openapi({ example: "https://auth.example.com/BANKA" }),
  authorization_endpoint: address,
  token_endpoint: address,
  pushed_authorization_request_endpoint: address,
  require_pushed_authorization_requests: z.literal(true),
  registration_endpoint: address,
  jwks_uri: address,
  scopes_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  response_modes_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  token_endpoint_auth_signing_alg_values_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  dpop_signing_alg_values_supported: z.array(z.string()),
  authorization_response_iss_parameter_supported: z.literal(true),
  service_documentation: address,
  ui_locales_supported: z.array(z.string()),
  planned_outages: plannedOutagesSchema,
}).openapi("AuthorizationServerMetadata");

export type ServerMetadata = z.infer<typeof serverMetadataSchema>;

/** Absent if there are none. */
export function representOutages(outages: readonly Outage[]): Pick<ServerMetadata, "planned_outages"> {
  if (outages.length === 0) return {};
  return {
    planned_outages: outages.map(({ from, until, text }) => ({
      from: wireDateTime(from),
      until: wireDateTime(until),
      text,
    })),
  };
}

/** The platform's public keys (RFC 7517). */
export const platformKeysSchema = z.strictObject({
  keys: z.array(z.strictObject({
    kty: z.literal("RSA"),
    use: z.enum(["sig", "enc"]),
    alg: z.string(),
    kid: z.string(),
    n: z.string(),
    e: z.string(),
    x5c: z.array(z.string()).optional(),
    x5t: z.string().optional(),
    "x5t#S256": z.string().optional(),
  })),
}).openapi("PlatformKeys");
