/** The member with which responses and reports carry the code of a reason (contract RSN3). */
import { z } from "@hono/zod-openapi";
import { BANK_REASON_CODES, REASON_CODES, type ReasonCode } from "../../../base/values/reason_codes.ts";

/** Of a response. */
export const reasonCodeSchema = z.enum(REASON_CODES).optional().openapi({
  description:
    "Why the status is `Rejected`: a code of the list of reasons, which says who can act and whether a " +
    "retry may succeed. Only with that status.",
  example: "AM04",
});

/** Of a bank's report. */
export const reportedReasonCodeSchema = z.enum(BANK_REASON_CODES).optional().openapi({
  description:
    "With Rejected, for the TPP: a code of the list of reasons that has four characters. Without it the " +
    "platform says NARR if there is a text, and MS03 if there is none.",
  example: "AM04",
});

export function representReasonCode(
  { statusReasonCode }: { readonly statusReasonCode?: ReasonCode },
): { readonly StatusReasonCode?: ReasonCode } {
  return statusReasonCode === undefined ? {} : { StatusReasonCode: statusReasonCode };
}
