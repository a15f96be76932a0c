/** The claims of a bank's result JWT (contract RT1 to RT9), with which the customer returns. Others are ignored. */
import { z } from "@hono/zod-openapi";
import { MAX_JTI_CHARACTERS } from "../../../base/profile.ts";
import type { JwtKind } from "../../guards/http/jwt_schema.ts";

/** `status_code` of a failure because of insufficient funds (Decision G7). */
export const SHORT_OF_FUNDS = "insufficient_funds";
/** Values of `status_code` that authorize (Decision B3). */
export const SUCCESSES: readonly unknown[] = ["success", "200"];
/** Values of `status_code` that reject (Decision B3). */
export const FAILURES: readonly unknown[] = ["failure", SHORT_OF_FUNDS];

const asReceived = z.string().min(1).max(MAX_JTI_CHARACTERS).openapi({
  description: "As in the handover JWT.",
});

const resultClaimsSchema = z.looseObject({
  iss: z.string().openapi({ description: "Your code." }),
  aud: z.url().openapi({ description: "The platform's authorization host, as a string." }),
  iat: z.number(),
  nbf: z.number().optional(),
  exp: z.number(),
  jti: z.string().min(1).max(MAX_JTI_CHARACTERS).openapi({ description: "New for each result." }),
  bank_id: z.string().openapi({ description: "Your code." }),
  correlation_id: asReceived,
  ref_id: asReceived,
  debtor_account_present: asReceived,
  transaction_digest: z.string().optional().openapi({
    description:
      "The digest of what you showed the customer, which must be that of the handover JWT: proof of dynamic linking.",
  }),
  status_code: z.string().openapi({
    description: `${[...SUCCESSES, ...FAILURES].join(", ")}; any other value is a fault of yours.`,
    example: "success",
  }),
  status: z.string().optional().openapi({ description: "A word for the evidence." }),
  reason_code: z.string().optional().openapi({
    description:
      "Why a failure is one: a code of the list of reasons that has four characters. Any other is MS03.",
    example: "AM04",
  }),
  sub: z.string().openapi({
    description: "Your opaque name for the customer, as in the report of the accounts; no account number.",
  }),
});

export const RESULT_JWT: JwtKind = { name: "BankResultClaims", typ: "JWT", claims: resultClaimsSchema };

/** The claims that are checked one by one; the times are checked together. */
export type ResultClaim = Exclude<keyof typeof resultClaimsSchema.shape, "iat" | "nbf">;
