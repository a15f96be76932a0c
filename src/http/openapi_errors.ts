/** The error answers of the two API surfaces, as the OpenAPI document tells them. */
import { z } from "@hono/zod-openapi";

/** `{error, error_description}` (RFC 6749 5.2). */
export const oauthErrorSchema = z.object({
  error: z.string().openapi({ example: "invalid_client" }),
  error_description: z.string(),
}).openapi("OAuthError");

/** `OBErrorResponse1` (open-banking reference 5.1). */
export const resourceErrorSchema = z.object({
  Code: z.string().openapi({ example: "400 BadRequest" }),
  Id: z.string(),
  Message: z.string(),
  Errors: z.array(z.object({
    ErrorCode: z.string().openapi({ example: "UK.OBIE.Field.Missing" }),
    Message: z.string(),
    Path: z.string().optional().openapi({ example: "Data.Initiation.InstructedAmount.Amount" }),
  })).min(1),
}).openapi("OBErrorResponse1");

interface ErrorResponse {
  description: string;
  content?: { "application/json": { schema: z.ZodType } };
}

const DESCRIPTION: Readonly<Record<number, string>> = {
  400: "Bad request; what is wrong is in the body",
  401: "Not authenticated",
  403: "Not allowed with this token; `WWW-Authenticate` says which scope is",
  404: "No such bank",
  406: "Only application/json can be answered",
  413: "The body is too large",
  415: "Wrong Content-Type or Content-Encoding",
  429: "Too many requests; see `Retry-After`",
  503: "Temporarily unavailable; see `Retry-After`",
};

/** Error responses of an OAuth endpoint. */
export function oauthErrors(...statuses: readonly number[]): Record<number, ErrorResponse> {
  return Object.fromEntries(statuses.map((status) => [status, {
    description: DESCRIPTION[status] ?? "Error",
    content: { "application/json": { schema: oauthErrorSchema } },
  }]));
}

/** Error responses of a resource endpoint; 401, 404 and 406 have no body. */
export function resourceErrors(...statuses: readonly number[]): Record<number, ErrorResponse> {
  return Object.fromEntries(statuses.map((status) => [status, {
    description: DESCRIPTION[status] ?? "Error",
    ...([401, 404, 406, 429].includes(status)
      ? {}
      : { content: { "application/json": { schema: resourceErrorSchema } } }),
  }]));
}
