/**
 * The form parameters of the token and PAR endpoints, for the OpenAPI document. The use cases parse and check them.
 */
import { z } from "@hono/zod-openapi";
import { COMPACT_JWS, SHA256_TEXT } from "../../guards/http/openapi_parameters.ts";
import { CLIENT_ID } from "../../../base/kernel/identifiers.ts";
import { CLIENT_ASSERTION_TYPE, MAX_STATE_CHARACTERS } from "../../../base/profile.ts";
import { VERIFIER } from "./pkce.ts";

const authentication = {
  client_id: z.string().openapi({
    pattern: CLIENT_ID.source,
    example: "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11",
  }),
  client_assertion_type: z.literal(CLIENT_ASSERTION_TYPE),
  client_assertion: z.string().openapi({
    pattern: COMPACT_JWS,
    description: "private_key_jwt, PS256; aud is the bank's issuer as a string",
  }),
};

const clientCredentials = z.object({
  grant_type: z.literal("client_credentials"),
  ...authentication,
  scope: z.enum(["payments", "bank"]),
}).openapi("ClientCredentialsRequest");

const authorizationCode = z.object({
  grant_type: z.literal("authorization_code"),
  ...authentication,
  code: z.string().openapi({ description: "Can be used once, within 60 s after the redirect" }),
  redirect_uri: z.string().openapi({
    format: "uri",
    description: "Must be identical to the one in the pushed request",
  }),
  code_verifier: z.string().openapi({ pattern: VERIFIER.source }),
}).openapi("AuthorizationCodeRequest");

/** Either grant. */
export const tokenRequestSchema = z.union([clientCredentials, authorizationCode]);

export const pushRequestSchema = z.object({
  ...authentication,
  response_type: z.literal("code"),
  redirect_uri: z.string().openapi({ format: "uri", description: "One of the registered redirect URLs" }),
  code_challenge: z.string().openapi({ pattern: SHA256_TEXT }),
  code_challenge_method: z.literal("S256"),
  consent_id: z.uuid(),
  scope: z.literal("payments"),
  state: z.string().optional().openapi({
    minLength: 1,
    maxLength: MAX_STATE_CHARACTERS,
    pattern: "^[\\x20-\\x7e]+$",
    description: "The redirect to the TPP repeats it",
  }),
  dpop_jkt: z.string().optional().openapi({
    pattern: SHA256_TEXT,
    description:
      "JWK thumbprint of the DPoP key to which the code is bound. Not needed if this request has a DPoP proof",
  }),
  ui_locales: z.string().optional().openapi({
    description:
      "The customer's languages, best first, separated by spaces (OpenID Connect Core 1.0, 3.1.2.1). " +
      "The consent screen and the bank use the first that they support and ignore the others.",
    example: "fr-CA en",
  }),
}).openapi("PushedAuthorizationRequest");

export const pushResponseSchema = z.strictObject({
  request_uri: z.string().openapi({
    example: "urn:ietf:params:oauth:request_uri:6esc_11ACC5bwc014ltc14eY22c-nOZ1xB4IyJ4mGqA",
  }),
  expires_in: z.literal(599),
}).openapi("PushedAuthorizationResponse");
