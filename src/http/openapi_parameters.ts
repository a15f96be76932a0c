/** Path and header parameters that several routes share, as the OpenAPI document tells them; guards enforce them. */
import { z } from "@hono/zod-openapi";

/** `{bank}`. */
export const bankParameter = z.object({
  bank: z.string().openapi({
    param: { name: "bank", in: "path" },
    example: "BANKA",
    description: "The bank's code",
  }),
});

/** A DPoP proof (RFC 9449). */
export const dpopHeader = z.object({
  dpop: z.string().openapi({
    description: "Proof JWT: typ dpop+jwt, PS256, htm, htu, iat, jti (and ath at resources)",
  }),
});

/** What every resource call carries. */
export const resourceHeaders = dpopHeader.extend({
  authorization: z.string().openapi({ example: "DPoP <access token>" }),
  "x-fapi-interaction-id": z.uuid().optional(),
  "x-fapi-auth-date": z.string().optional().openapi({ example: "Tue, 11 Nov 2025 10:00:00 GMT" }),
  "x-fapi-customer-ip-address": z.string().optional(),
});

/** What a signed body comes with. */
export const signedHeaders = resourceHeaders.extend({
  "x-jws-signature": z.string().openapi({
    description: "Detached JWS over the exact body bytes: <header>..<signature>",
  }),
});

/** What a signed, idempotent POST comes with. */
export const idempotentHeaders = signedHeaders.extend({
  "x-idempotency-key": z.string().min(1).max(40),
});
