/** The claims of the handover JWT, which the customer takes to the bank (contract HO1 to HO10). */
import { z } from "@hono/zod-openapi";
import { issuedClaims, type JwtKind } from "../../guards/http/jwt_schema.ts";

const handoverClaimsSchema = z.strictObject({
  ...issuedClaims,
  nbf: z.int(),
  debtor_account_present: z.enum(["true", "false"]).openapi({
    description: "Whether the TPP named the payer's account.",
  }),
  ref_id: z.uuid().openapi({ description: "The consent's id." }),
  act: z.strictObject({
    sub: z.string().openapi({ description: "The TPP's legal name." }),
    registration_no: z.string().openapi({ description: "The TPP's `client_id`." }),
  }),
  correlation_id: z.uuid(),
  transaction_digest: z.string().openapi({
    description: "Of the amount, the payee and the payer's account that the TPP named. You may return it.",
  }),
  ui_locales: z.string().optional().openapi({
    description: "The customer's languages, best first, if the TPP named any.",
    example: "fr-CA en",
  }),
});

export const HANDOVER_JWT: JwtKind = { name: "HandoverClaims", typ: "JWT", claims: handoverClaimsSchema };

export type HandoverClaims = z.infer<typeof handoverClaimsSchema>;
