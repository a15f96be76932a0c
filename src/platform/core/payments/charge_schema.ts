/** Schema of a bank's charge for a payment. Banks report it and the payment's response repeats it. */
import { z } from "@hono/zod-openapi";
import { currencyCode, patterned, text } from "../../guards/http/wire_fields.ts";

const CHARGE_BEARERS = ["BorneByCreditor", "BorneByDebtor", "FollowingServiceLevel", "Shared"] as const;
const CHARGE_AMOUNT = /^(0|[1-9]\d{0,12})(\.\d{1,5})?$/; // OBIE's own amount format: a charge may be zero

export const chargeSchema = z.strictObject({
  ChargeBearer: z.enum(CHARGE_BEARERS).optional(),
  Type: text(40).optional().openapi({ example: "UK.OBIE.CHAPSOut" }),
  Amount: z.strictObject({
    Amount: patterned(CHARGE_AMOUNT, "Must be a decimal such as 0.25."),
    Currency: currencyCode(),
  }),
}).openapi("Charge");
