/** JWTs in the OpenAPI document: texts whose content is a header and claims (JSON Schema Validation 2020-12 §8.5). */
import { z } from "@hono/zod-openapi";
import { CONTENT_ENCRYPTION_ALG, KEY_MANAGEMENT_ALG, SIGNATURE_ALG } from "../../../base/limits.ts";
import { COMPACT_JWE, COMPACT_JWS } from "./openapi_parameters.ts";

/** A kind of JWT that the platform sends or takes. */
export interface JwtKind {
  /** Of the component that has its claims. */
  readonly name: string;
  readonly typ: string;
  readonly claims: z.ZodType;
}

/** A schema of the document that no zod schema makes. */
type PlainSchema = { readonly type: "string"; readonly [keyword: string]: unknown };

/** Claims of a JWT that the platform signs for one party. */
export const issuedClaims = {
  iss: z.url().openapi({ description: "The platform's authorization host." }),
  aud: z.string().openapi({ description: "The bank's code." }),
  iat: z.int(),
  exp: z.int(),
  jti: z.uuid(),
};

const KID = { type: "string", minLength: 1 };

/** A compact JWS: its protected header and its claims. */
export function signedText({ name, typ }: JwtKind): PlainSchema {
  return jwtText([COMPACT_JWS, "header.claims.signature"], {
    alg: { const: SIGNATURE_ALG },
    typ: { const: typ },
    kid: KID,
  }, { $ref: `#/components/schemas/${name}` });
}

/** The query with which a customer's browser brings a JWT. */
export function sealedQuery(kind: JwtKind): z.ZodObject {
  return z.object({ oAuthUrl: z.string().openapi(sealedText(kind)) });
}

/** A compact JWE around a compact JWS. */
export function sealedText(kind: JwtKind): PlainSchema {
  const header = {
    alg: { const: KEY_MANAGEMENT_ALG },
    enc: { const: CONTENT_ENCRYPTION_ALG },
    cty: { const: "JWT" },
    kid: KID,
  };
  return jwtText([COMPACT_JWE, "header.key.iv.ciphertext.tag"], header, signedText(kind));
}

function jwtText(
  [pattern, example]: readonly [string, string],
  header: object,
  content: object,
): PlainSchema {
  return {
    type: "string",
    pattern,
    example,
    contentMediaType: "application/jwt",
    contentSchema: {
      type: "array",
      prefixItems: [{ type: "object", properties: header, required: Object.keys(header) }, content],
      items: {}, // linters ask for it
      minItems: 2,
      maxItems: 2,
    },
  };
}
