/** The form parameters of the token and PAR endpoints, for the OpenAPI document; the use cases read and judge them. */
import { z } from "@hono/zod-openapi";
import { CLIENT_ASSERTION_TYPE } from "../profile.ts";

const authentication = {
  client_id: z.string().openapi({ example: "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11" }),
  client_assertion_type: z.literal(CLIENT_ASSERTION_TYPE),
  client_assertion: z.string().openapi({
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
  code: z.string(),
  redirect_uri: z.string().openapi({ description: "Exactly the one of the pushed request" }),
  code_verifier: z.string(),
}).openapi("AuthorizationCodeRequest");

/** Either grant. */
export const tokenRequestSchema = z.union([clientCredentials, authorizationCode]);

/** A pushed authorization request. */
export const pushRequestSchema = z.object({
  ...authentication,
  response_type: z.literal("code"),
  redirect_uri: z.string().openapi({ description: "One of the registered redirect URLs" }),
  code_challenge: z.string(),
  code_challenge_method: z.literal("S256"),
  consent_id: z.string(),
  scope: z.literal("payments"),
  state: z.string().optional(),
  dpop_jkt: z.string().optional(),
  ui_locales: z.string().optional().openapi({
    description:
      "The customer's languages, best first, separated by spaces (OpenID Connect Core 1.0, 3.1.2.1). " +
      "Consent screen and bank use the first that they have; what they do not know is ignored.",
    example: "fr-CA en",
  }),
}).openapi("PushedAuthorizationRequest");

/** The PAR response. */
export const pushResponseSchema = z.object({
  request_uri: z.string().openapi({
    example: "urn:ietf:params:oauth:request_uri:6esc_11ACC5bwc014ltc14eY22c-nOZ1xB4IyJ4mGqA",
  }),
  expires_in: z.literal(599),
}).openapi("PushedAuthorizationResponse");
