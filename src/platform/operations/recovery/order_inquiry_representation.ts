/** The platform's inquiry about a bank's orders: after a restore, or about those that it does not decide on. */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import { wireDateTimeSchema } from "../../core/consents/initiation_representation.ts";
import { issuedClaims, type JwtKind } from "../../guards/http/jwt_schema.ts";
import type { Inquiry } from "./hold.ts";

const inquiryClaimsSchema = z.strictObject({
  ...issuedClaims,
  Data: z.strictObject({
    Since: wireDateTimeSchema.openapi({
      description: "List each order that you received, or whose status changed, at or after this time.",
    }),
    After: z.string().optional().openapi({
      description: "Your cursor of the page that is asked for; absent for the first one.",
    }),
  }),
});

/** It is not an order, and a bank that supports only orders responds with 400. */
export const INQUIRY_JWT: JwtKind = {
  name: "OrderInquiryClaims",
  typ: "order-inquiry+jwt",
  claims: inquiryClaimsSchema,
};

type InquiryClaims = z.infer<typeof inquiryClaimsSchema>;

export function representInquiry(
  { bank, since, after }: Inquiry,
  issued: Pick<InquiryClaims, "iss" | "iat" | "exp" | "jti">,
): InquiryClaims {
  const Data = { Since: wireDateTime(since), ...(after === undefined ? {} : { After: after }) };
  return { ...issued, aud: bank, Data };
}
