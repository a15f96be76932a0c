/**
 * The scope that a client may have at a bank, and the token response of both grants (contract TC3, TC5). It never
 * contains a refresh token or an ID token.
 */
import { z } from "@hono/zod-openapi";
import { ACCESS_TOKEN_SECONDS } from "../../../base/profile.ts";
import type { AccessToken } from "../../guards/security/access_token.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { describedMismatch, mismatch, quote } from "../../../base/kernel/result.ts";
import type { Caller } from "../../guards/security/caller.ts";

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

/**
 * Returns the caller's only scope at this bank if it was requested. Order and repetition do not matter (RFC 6749
 * §3.3).
 *
 * @throws {ApiError} `oauth.invalid_scope`, also for a bank at another bank, because `bank` allows that bank's back
 * channel
 */
export function requireScope(
  requested: string | undefined,
  caller: Caller,
  bank: BankCode,
): "payments" | "bank" {
  const scope = caller.role === "PISP" ? "payments" : "bank";
  if (scope === "bank" && caller.orgId !== bank) { // Decision A4: a bank's code is its org_id
    const { fault } = describedMismatch(
      "the bank in the path",
      `${quote(caller.orgId)} (your own code)`,
      quote(bank),
    );
    const description = "A bank gets tokens at its own address only.";
    throw new ApiError("oauth.invalid_scope", { description, fault });
  }
  const asked = new Set((requested ?? "").split(" ").filter((token) => token !== ""));
  if (asked.size === 1 && asked.has(scope)) return scope;
  const { fault } = mismatch("scope", quote(scope), requested);
  throw new ApiError("oauth.invalid_scope", { description: `scope must be ${scope}.`, fault });
}
