/** The body of POST domestic-payment-consents: its schema, which is also its documentation, and its decoding. */
import { z } from "@hono/zod-openapi";
import { decode, rejectedAs, valueAt } from "../../guards/http/decode.ts";
import { fromWire, text } from "../../guards/http/wire_fields.ts";
import { instantOf } from "../../../base/kernel/date_time.ts";
import type { Fault } from "../../../base/kernel/api_error.ts";
import type { ConsentRequest } from "./consent.ts";
import {
  EXAMPLE_OF_PAYMENT,
  initiationFaults,
  initiationOf,
  initiationSchema,
  riskSchema,
} from "./initiation_schema.ts";
import type { Supported } from "./initiation_schema.ts";

const SCA_EXEMPTION_TYPES = [
  "BillPayment",
  "ContactlessTravel",
  "EcommerceGoods",
  "EcommerceServices",
  "Kiosk",
  "Parking",
  "PartyToParty",
] as const;

/** Any ISO 8601 form. `instantOf` checks whether it is a valid instant. */
const ISO_DATE_TIME = "^[0-9W-]{7,10}T[0-9:.,]+(Z|[+-][0-9:]{2,5})$";

const completionDateTime = z.string()
  .refine(
    (value) => instantOf(value) !== undefined,
    rejectedAs("Field.InvalidDate", "Must be an ISO 8601 date-time with an offset."),
  )
  .openapi({
    pattern: ISO_DATE_TIME,
    description: "ISO 8601 with an offset (RFC 3339 is one form of it). Must be in the future.",
    example: "2030-01-31T12:00:00+00:00",
  });

/** The schema for the OpenAPI document. `decodeConsentRequest` checks more rules. */
export const consentRequestSchema = z.strictObject({
  Data: z.strictObject({
    ReadRefundAccount: z.enum(["Yes", "No"]).optional(),
    Authorisation: z.strictObject({
      AuthorisationType: z.enum(["Any", "Single"]),
      CompletionDateTime: completionDateTime.optional(),
    }).openapi("Authorisation").optional(),
    Initiation: initiationSchema,
    SCASupportData: z.strictObject({
      RequestedSCAExemptionType: z.enum(SCA_EXEMPTION_TYPES).optional(),
      AppliedAuthenticationApproach: z.enum(["CA", "SCA"]).optional(),
      ReferencePaymentOrderId: text(40).optional(),
    }).openapi("SCASupportData").optional(),
  }),
  Risk: riskSchema,
}).openapi("DomesticPaymentConsentRequest", {
  example: {
    Data: {
      ReadRefundAccount: "Yes",
      Authorisation: { AuthorisationType: "Any" },
      Initiation: EXAMPLE_OF_PAYMENT.Initiation,
    },
    Risk: EXAMPLE_OF_PAYMENT.Risk,
  },
});

/**
 * Decodes a consent request.
 *
 * @param context `now` in milliseconds since the Unix epoch, and the supported currencies and schemes
 * @throws {ApiError} `resource.invalid_fields` naming every faulty place; `resource.invalid_format`
 */
export function decodeConsentRequest(
  value: unknown,
  context: Supported & { readonly now: number },
): ConsentRequest {
  const rules = [...completionFaults(value, context.now), ...initiationFaults(value, context)];
  const { Data: { Initiation, ...rest }, Risk } = decode(consentRequestSchema, value, rules);
  return { ...fromWire(rest), initiation: initiationOf(Initiation), risk: fromWire(Risk) };
}

function completionFaults(body: unknown, now: number): Fault[] {
  const completion = valueAt(body, ["Data", "Authorisation", "CompletionDateTime"]);
  const instant = typeof completion === "string" ? instantOf(completion) : undefined;
  if (instant === undefined || instant > now) return [];
  const path = "Data.Authorisation.CompletionDateTime";
  return [{ code: "Field.InvalidDate", path, message: "Must be in the future." }];
}
