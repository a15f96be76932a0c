/** The registration response (contract DC12; RFC 7591 §3.2.1). */
import { z } from "@hono/zod-openapi";
import { CLIENT_ID } from "../../../base/kernel/identifiers.ts";
import type { Registration } from "./client.ts";

/** Schema of the response, for the OpenAPI document. */
export const clientRepresentationSchema = z.strictObject({
  client_id: z.string().openapi({
    pattern: CLIENT_ID.source,
    example: "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11",
  }),
  client_id_issued_at: z.int(),
  client_name: z.string(),
  redirect_uris: z.array(z.string().openapi({ format: "uri" })),
  token_endpoint_auth_method: z.literal("private_key_jwt"),
  token_endpoint_auth_signing_alg: z.literal("PS256"),
  grant_types: z.array(z.string()),
  response_types: z.array(z.literal("code")),
  software_id: z.string(),
  scope: z.enum(["payments", "bank"]),
  software_statement: z.string(),
  application_type: z.literal("web"),
  id_token_signed_response_alg: z.literal("PS256"),
}).openapi("RegisteredClient");

/** Represents a client for its owner. The statement is returned unchanged (RFC 7591 §3.2.1). */
export function representClient(
  { client, softwareStatement }: Registration,
): z.infer<typeof clientRepresentationSchema> {
  return {
    client_id: client.clientId,
    client_id_issued_at: Math.floor(client.registeredAt / 1000),
    client_name: client.softwareName,
    redirect_uris: [...client.redirectUris],
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_signing_alg: "PS256",
    grant_types: [...client.grantTypes],
    response_types: ["code"],
    software_id: client.softwareId,
    scope: client.scope,
    software_statement: softwareStatement,
    application_type: "web",
    id_token_signed_response_alg: "PS256",
  };
}
