/** The token response of both grants (contract TC5). It never contains a refresh token or an ID token. */
import { z } from "@hono/zod-openapi";
import { ACCESS_TOKEN_SECONDS } from "../../../base/profile.ts";
import type { AccessToken } from "../../guards/security/access_token.ts";

/** Schema of the response, for the OpenAPI document. */
export const tokenResponseSchema = z.strictObject({
  access_token: z.string().openapi({ description: "Opaque, 43 characters" }),
  token_type: z.literal("DPoP"),
  expires_in: z.literal(ACCESS_TOKEN_SECONDS),
  scope: z.enum(["payments", "bank"]),
}).openapi("TokenResponse");

/** Returns the response with a token (RFC 9449 §5: `token_type` is `DPoP`). */
export function tokenResponse(
  token: string,
  scope: AccessToken["scope"],
): z.infer<typeof tokenResponseSchema> {
  return { access_token: token, token_type: "DPoP", expires_in: ACCESS_TOKEN_SECONDS, scope };
}
