/** Path and header parameters that several routes share, as the OpenAPI document tells them; guards enforce them. */
import { z } from "@hono/zod-openapi";
import { BANK_CODE, IDEMPOTENCY_KEY } from "../../base/kernel/identifiers.ts";

/** A JWT of three parts, none of them empty. */
export const COMPACT_JWS = "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$";
/** SHA-256 in base64url. */
export const SHA256_TEXT = "^[A-Za-z0-9_-]{43}$";

/** The names of the security schemes, which `openapi.ts` describes. */
export const SCHEMES = { certificate: "mutualTLS", payments: "DPoPPayments", bank: "DPoPBank" } as const;

/** `security` of an endpoint for which a client certificate is enough. */
export const CERTIFICATE = [{ [SCHEMES.certificate]: [] }];

/** `security` of a resource endpoint: a client certificate, and an access token of the scope with its DPoP proof. */
export function accessTokenOf(scope: "payments" | "bank"): Record<string, string[]>[] {
  return [{ [SCHEMES.certificate]: [], [SCHEMES[scope]]: [] }];
}

/** `{bank}`. */
export const bankParameter = z.object({
  bank: z.string().openapi({
    param: { name: "bank", in: "path" },
    pattern: BANK_CODE.source,
    example: "BANKA",
    description: "The bank's code",
  }),
});

/** A DPoP proof (RFC 9449). */
export const dpopHeader = z.object({
  dpop: z.string().openapi({
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

/** What every resource call carries. */
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

/** What a signed body comes with. */
export const signedHeaders = resourceHeaders.extend({
  "x-jws-signature": z.string().openapi({
    pattern: "^[A-Za-z0-9_-]+\\.\\.[A-Za-z0-9_-]+$",
    description: "Detached JWS over the exact body bytes: <header>..<signature>",
  }),
});

/** What a signed, idempotent POST comes with. */
export const idempotentHeaders = signedHeaders.extend({
  "x-idempotency-key": idempotencyKey,
});
