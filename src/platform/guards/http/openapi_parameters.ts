/** Path and header parameters that several routes share, for the OpenAPI document. The middleware enforces them. */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import { z } from "@hono/zod-openapi";
import { BANK_CODE, IDEMPOTENCY_KEY } from "../../../base/kernel/identifiers.ts";
import { type resourceAnswer, resourceErrors } from "./openapi_answers.ts";

/** Pattern of a compact JWS: three non-empty parts. */
export const COMPACT_JWS = "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$";
/** Pattern of a compact JWE: five non-empty parts. */
export const COMPACT_JWE = "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){4}$";
/** Pattern of a SHA-256 in base64url. */
export const SHA256_TEXT = "^[A-Za-z0-9_-]{43}$";

/** Names of the security schemes that `openapi.ts` describes. */
export const SCHEMES = { certificate: "mutualTLS", payments: "DPoPPayments", bank: "DPoPBank" } as const;

/** `security` of an endpoint that requires only a client certificate. */
export const CERTIFICATE = [{ [SCHEMES.certificate]: [] }];

/** `security` of a resource endpoint: a client certificate, and an access token of the scope with its DPoP proof. */
export function accessTokenOf(scope: "payments" | "bank"): Record<string, string[]>[] {
  return [{ [SCHEMES.certificate]: [], [SCHEMES[scope]]: [] }];
}

/** The path parameter `{bank}`. */
export const bankParameter = z.object({
  bank: z.string().openapi({
    pattern: BANK_CODE.source,
    example: "BANKA",
    description: "The bank's code",
  }),
});

/** The header of a DPoP proof (RFC 9449). */
export const dpopHeader = z.object({
  DPoP: z.string().openapi({
    pattern: COMPACT_JWS,
    description: "Proof JWT: typ dpop+jwt, PS256, htm, htu, iat, jti (and ath at resources)",
  }),
});

/** An idempotency key: 1 to 40 visible characters. */
export const idempotencyKey = z.string().openapi({
  minLength: 1,
  maxLength: 40,
  pattern: IDEMPOTENCY_KEY.source,
  description: "Use a new key for each consent or payment, and the same key for a retry.",
  example: "5b0c4b1e-6a7a-4d38-9a52-2f5a2e1f9a11",
});

/** Headers of every resource request. */
export const resourceHeaders = dpopHeader.extend({
  "x-fapi-interaction-id": z.uuid().optional().openapi({
    description: "Id of the request. The response has the same value.",
  }),
  "x-fapi-auth-date": z.string().optional().openapi({
    pattern: "^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} (GMT|UTC)$",
    description: "HTTP date (RFC 9110 §5.6.7).",
    example: "Tue, 11 Nov 2025 10:00:00 GMT",
  }),
  "x-fapi-customer-ip-address": z.string().min(2).max(45).optional().openapi({
    description: "IPv4 or IPv6 address of the customer.",
    example: "203.0.113.7",
  }),
});

/** Headers of a request with a signed body. */
export const signedHeaders = resourceHeaders.extend({
  "x-jws-signature": z.string().openapi({
    pattern: "^[A-Za-z0-9_-]+\\.\\.[A-Za-z0-9_-]+$",
    description: "Detached JWS over the exact body bytes: <header>..<signature>",
  }),
});

/** Headers of a signed, idempotent POST. */
export const idempotentHeaders = signedHeaders.extend({ "x-idempotency-key": idempotencyKey });

/** A route of a resource endpoint, as it is declared. */
interface ResourceRoute<P extends string>
  extends Pick<RouteConfig, "method" | "operationId" | "tags" | "summary" | "description"> {
  readonly path: P;
  /** Those of the access token, of which one is enough. */
  readonly scopes: readonly ("payments" | "bank")[];
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** The JSON that the endpoint takes. */
  readonly body?: z.ZodType;
  readonly answers: Readonly<Record<number, ReturnType<typeof resourceAnswer>>>;
  /** Besides those of every resource and of a body. */
  readonly errors?: readonly 409[];
}

/** Describes an endpoint for an access token, with what its guards and a body add to its answers. */
export function resourceRoute<P extends string>(
  {
    scopes,
    params = bankParameter,
    query,
    headers = resourceHeaders,
    body,
    answers,
    errors = [],
    ...route
  }: ResourceRoute<P>,
): RouteConfig & { path: P } {
  const json = body && { required: true, content: { "application/json": { schema: body } } };
  return {
    ...route,
    security: scopes.flatMap(accessTokenOf),
    request: { params, headers, ...(query && { query }), ...(json && { body: json }) },
    responses: {
      ...answers,
      ...resourceErrors(...errors, ...(body === undefined ? [] : [413, 415] as const)),
    },
  };
}
